/* A directly linked client (DT_NEEDED libcuda.so.1, no dlsym): allocation, copies, launches, the first interface's launch, and
 * calls from an exit handler. Prints the number of visible devices and the first one's UUID. */
#include <string.h>

#include "cuda_min.h"

CUresult cuInit(unsigned);
CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetUuid(unsigned char *, CUdevice);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult cuCtxSynchronize(void);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuFuncSetBlockShape(CUfunction, int, int, int);
CUresult cuParamSetSize(CUfunction, unsigned);
CUresult cuLaunchGrid(CUfunction, int, int);

static CUdeviceptr memory;

static void at_exit(void) {
    /* As NVIDIA's runtime does: the process is half torn down already. */
    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree_v2(memory));
}

int main(void) {
    CHECK(cuInit(0));
    int count;
    CHECK(cuDeviceGetCount(&count));
    unsigned char uuid[16];
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetUuid(uuid, device));
    CUcontext context;
    CHECK(cuCtxCreate_v2(&context, 0, device));
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&function, module, "spin_100us"));
    EXPECT(cuModuleGetFunction(&function, module, "no_such_kernel"), 500);
    CHECK(cuModuleGetFunction(&function, module, "spin_100us"));
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    char text[] = "round trip", back[sizeof text] = "";
    CHECK(cuMemcpyHtoD_v2(memory, text, sizeof text));
    for (int i = 0; i < 10; i++) CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuFuncSetBlockShape(function, 32, 1, 1));
    CHECK(cuParamSetSize(function, 0));
    CHECK(cuLaunchGrid(function, 2, 2));
    CHECK(cuMemcpyDtoH_v2(back, memory, sizeof back));
    EXPECT(strcmp(text, back), 0);
    printf("%d ", count);
    for (int i = 0; i < 16; i++) printf("%02x", uuid[i]);
    printf("\n");
    atexit(at_exit);
    return 0;
}
