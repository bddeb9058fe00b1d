//! IPC, external memory and semaphores, graphics, EGL, VDPAU.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_interop {
    ($callback:tt $($before:tt)*) => { $crate::__families_context! {
        $callback
        $($before)*
        pass()
        because("events hold no device memory worth charging and order work without running any")
        cuIpcGetEventHandle {
            4010 cuIpcGetEventHandle(pHandle: *mut CUipcEventHandle, event: CUevent);
        }
        pass()
        because("events hold no device memory worth charging and order work without running any")
        cuIpcOpenEventHandle {
            4010 cuIpcOpenEventHandle(phEvent: *mut CUevent, handle: CUipcEventHandle);
        }
        reference(export)
        later("issue 4: an importer can keep the memory when its owner is gone; until then only the audit sees that")
        cuIpcGetMemHandle {
            4010 cuIpcGetMemHandle(pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr);
        }
        memory(import)
        later("issue 4: paid once, by the exporter, and moved when it dies; until then an import is not charged")
        cuIpcOpenMemHandle {
            4010 cuIpcOpenMemHandle(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: c_uint);
            11000 cuIpcOpenMemHandle_v2(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: c_uint);
        }
        free(import)
        later("issue 4: drops the importer's reference; until then there is no charge to move")
        cuIpcCloseMemHandle {
            4010 cuIpcCloseMemHandle(dptr: CUdeviceptr);
        }
        memory(external)
        later("issue 4: memory of another API, charged once per imported object by policy; until then only the audit \
            sees it")
        cuImportExternalMemory {
            10000 cuImportExternalMemory(
                extMem_out: *mut CUexternalMemory, memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC
            );
        }
        pass() because("maps memory that its import brought; allocates none") cuExternalMemoryGetMappedBuffer {
            10000 cuExternalMemoryGetMappedBuffer(
                devPtr: *mut CUdeviceptr, extMem: CUexternalMemory,
                bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC
            );
        }
        pass()
        because("maps memory that its import brought; allocates none")
        cuExternalMemoryGetMappedMipmappedArray {
            10000 cuExternalMemoryGetMappedMipmappedArray(
                mipmap: *mut CUmipmappedArray, extMem: CUexternalMemory,
                mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC
            );
        }
        free(external)
        later("issue 4: ends the charge of its import; until then there is no charge to end")
        cuDestroyExternalMemory {
            10000 cuDestroyExternalMemory(extMem: CUexternalMemory);
        }
        pass()
        because("semaphores are never gated: another process may wait for them; no device memory, no kernel")
        cuImportExternalSemaphore {
            10000 cuImportExternalSemaphore(
                extSem_out: *mut CUexternalSemaphore, semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC
            );
        }
        pass()
        because("semaphores are never gated: another process may wait for them; no device memory, no kernel")
        cuSignalExternalSemaphoresAsync {
            10000 cuSignalExternalSemaphoresAsync(
                extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
                numExtSems: c_uint, stream: CUstream
            ), 10000 cuSignalExternalSemaphoresAsync_ptsz;
        }
        pass()
        because("semaphores are never gated: another process may wait for them; no device memory, no kernel")
        cuWaitExternalSemaphoresAsync {
            10000 cuWaitExternalSemaphoresAsync(
                extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
                numExtSems: c_uint, stream: CUstream
            ), 10000 cuWaitExternalSemaphoresAsync_ptsz;
        }
        pass()
        because("semaphores are never gated: another process may wait for them; no device memory, no kernel")
        cuDestroyExternalSemaphore {
            10000 cuDestroyExternalSemaphore(extSem: CUexternalSemaphore);
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsUnregisterResource {
            3000 cuGraphicsUnregisterResource(resource: CUgraphicsResource);
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsSubResourceGetMappedArray {
            3000 cuGraphicsSubResourceGetMappedArray(
                pArray: *mut CUarray, resource: CUgraphicsResource, arrayIndex: c_uint, mipLevel: c_uint
            );
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsResourceGetMappedMipmappedArray {
            5000 cuGraphicsResourceGetMappedMipmappedArray(
                pMipmappedArray: *mut CUmipmappedArray, resource: CUgraphicsResource
            );
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsResourceGetMappedPointer {
            3000 cuGraphicsResourceGetMappedPointer(
                pDevPtr: *mut CUdeviceptr_v1, pSize: *mut c_uint, resource: CUgraphicsResource
            );
            3020 cuGraphicsResourceGetMappedPointer_v2(
                pDevPtr: *mut CUdeviceptr, pSize: *mut usize, resource: CUgraphicsResource
            );
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsResourceSetMapFlags {
            3000 cuGraphicsResourceSetMapFlags(resource: CUgraphicsResource, flags: c_uint);
            6050 cuGraphicsResourceSetMapFlags_v2(resource: CUgraphicsResource, flags: c_uint);
        }
        pass() because("maps memory that a graphics API owns; no allocation, no kernel") cuGraphicsMapResources {
            3000 cuGraphicsMapResources(
                count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream
            ), 7000 cuGraphicsMapResources_ptsz;
        }
        pass() because("maps memory that a graphics API owns; no allocation, no kernel") cuGraphicsUnmapResources {
            3000 cuGraphicsUnmapResources(
                count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream
            ), 7000 cuGraphicsUnmapResources_ptsz;
        }
        pass() because("maps memory that a graphics API owns; no allocation, no kernel") cuGraphicsGLRegisterBuffer {
            3000 cuGraphicsGLRegisterBuffer(pCudaResource: *mut CUgraphicsResource, buffer: GLuint, Flags: c_uint);
        }
        pass() because("maps memory that a graphics API owns; no allocation, no kernel") cuGraphicsGLRegisterImage {
            3000 cuGraphicsGLRegisterImage(
                pCudaResource: *mut CUgraphicsResource, image: GLuint, target: GLenum, Flags: c_uint
            );
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLGetDevices {
            4010 cuGLGetDevices(
                pCudaDeviceCount: *mut c_uint, pCudaDevices: *mut CUdevice, cudaDeviceCount: c_uint,
                deviceList: CUGLDeviceList
            );
            6050 cuGLGetDevices_v2(
                pCudaDeviceCount: *mut c_uint, pCudaDevices: *mut CUdevice, cudaDeviceCount: c_uint,
                deviceList: CUGLDeviceList
            );
        }
        context(create)
        because("creating a context is never refused; its memory is overhead, which the coordinator measures and \
            charges")
        cuGLCtxCreate {
            2000 cuGLCtxCreate(pCtx: *mut CUcontext, Flags: c_uint, device: CUdevice);
            3020 cuGLCtxCreate_v2(pCtx: *mut CUcontext, Flags: c_uint, device: CUdevice);
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLInit {
            2000 cuGLInit();
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLRegisterBufferObject {
            2000 cuGLRegisterBufferObject(buffer: GLuint);
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLMapBufferObject {
            2000 cuGLMapBufferObject(dptr: *mut CUdeviceptr_v1, size: *mut c_uint, buffer: GLuint);
            3020 cuGLMapBufferObject_v2(
                dptr: *mut CUdeviceptr, size: *mut usize, buffer: GLuint
            ), 7000 cuGLMapBufferObject_v2_ptds;
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLUnmapBufferObject {
            2000 cuGLUnmapBufferObject(buffer: GLuint);
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLUnregisterBufferObject {
            2000 cuGLUnregisterBufferObject(buffer: GLuint);
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLSetBufferObjectMapFlags {
            2030 cuGLSetBufferObjectMapFlags(buffer: GLuint, Flags: c_uint);
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLMapBufferObjectAsync {
            2030 cuGLMapBufferObjectAsync(
                dptr: *mut CUdeviceptr_v1, size: *mut c_uint, buffer: GLuint, hStream: CUstream
            );
            3020 cuGLMapBufferObjectAsync_v2(
                dptr: *mut CUdeviceptr, size: *mut usize, buffer: GLuint, hStream: CUstream
            ), 7000 cuGLMapBufferObjectAsync_v2_ptsz;
        }
        pass() because("maps memory that OpenGL owns; no allocation, no kernel") cuGLUnmapBufferObjectAsync {
            2030 cuGLUnmapBufferObjectAsync(buffer: GLuint, hStream: CUstream);
        }
        pass() because("maps memory that a graphics API owns; no allocation, no kernel") cuGraphicsEGLRegisterImage {
            7000 cuGraphicsEGLRegisterImage(
                pCudaResource: *mut CUgraphicsResource, image: EGLImageKHR, flags: c_uint
            );
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamConsumerConnect {
            7000 cuEGLStreamConsumerConnect(conn: *mut CUeglStreamConnection, stream: EGLStreamKHR);
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamConsumerConnectWithFlags {
            8000 cuEGLStreamConsumerConnectWithFlags(
                conn: *mut CUeglStreamConnection, stream: EGLStreamKHR, flags: c_uint
            );
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamConsumerDisconnect {
            7000 cuEGLStreamConsumerDisconnect(conn: *mut CUeglStreamConnection);
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamConsumerAcquireFrame {
            7000 cuEGLStreamConsumerAcquireFrame(
                conn: *mut CUeglStreamConnection, pCudaResource: *mut CUgraphicsResource, pStream: *mut CUstream,
                timeout: c_uint
            );
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamConsumerReleaseFrame {
            7000 cuEGLStreamConsumerReleaseFrame(
                conn: *mut CUeglStreamConnection, pCudaResource: CUgraphicsResource, pStream: *mut CUstream
            );
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamProducerConnect {
            7000 cuEGLStreamProducerConnect(
                conn: *mut CUeglStreamConnection, stream: EGLStreamKHR, width: EGLint, height: EGLint
            );
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamProducerDisconnect {
            7000 cuEGLStreamProducerDisconnect(conn: *mut CUeglStreamConnection);
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamProducerPresentFrame {
            7000 cuEGLStreamProducerPresentFrame(
                conn: *mut CUeglStreamConnection, eglframe: CUeglFrame, pStream: *mut CUstream
            );
        }
        pass()
        because("frames that an EGL stream owns; CUDA allocates nothing and runs no kernel")
        cuEGLStreamProducerReturnFrame {
            7000 cuEGLStreamProducerReturnFrame(
                conn: *mut CUeglStreamConnection, eglframe: *mut CUeglFrame, pStream: *mut CUstream
            );
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsResourceGetMappedEglFrame {
            7000 cuGraphicsResourceGetMappedEglFrame(
                eglFrame: *mut CUeglFrame, resource: CUgraphicsResource, index: c_uint, mipLevel: c_uint
            );
        }
        pass()
        because("makes an event of a fence; no device memory, no GPU work (Tegra only: no desktop driver exports \
            it)")
        cuEventCreateFromEGLSync {
            9000 cuEventCreateFromEGLSync(phEvent: *mut CUevent, eglSync: EGLSyncKHR, flags: c_uint);
        }
        pass() because("names a device; no memory or queue is touched") cuVDPAUGetDevice {
            3010 cuVDPAUGetDevice(
                pDevice: *mut CUdevice, vdpDevice: VdpDevice, vdpGetProcAddress: *mut VdpGetProcAddress
            );
        }
        context(create)
        because("creating a context is never refused; its memory is overhead, which the coordinator measures and \
            charges")
        cuVDPAUCtxCreate {
            3010 cuVDPAUCtxCreate(
                pCtx: *mut CUcontext, flags: c_uint, device: CUdevice, vdpDevice: VdpDevice,
                vdpGetProcAddress: *mut VdpGetProcAddress
            );
            3020 cuVDPAUCtxCreate_v2(
                pCtx: *mut CUcontext, flags: c_uint, device: CUdevice, vdpDevice: VdpDevice,
                vdpGetProcAddress: *mut VdpGetProcAddress
            );
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsVDPAURegisterVideoSurface {
            3010 cuGraphicsVDPAURegisterVideoSurface(
                pCudaResource: *mut CUgraphicsResource, vdpSurface: VdpVideoSurface, flags: c_uint
            );
        }
        pass()
        because("maps memory that a graphics API owns; no allocation, no kernel")
        cuGraphicsVDPAURegisterOutputSurface {
            3010 cuGraphicsVDPAURegisterOutputSurface(
                pCudaResource: *mut CUgraphicsResource, vdpSurface: VdpOutputSurface, flags: c_uint
            );
        }
    } };
}
