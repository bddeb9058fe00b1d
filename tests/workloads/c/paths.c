/* Puts work on the device in every way that there is, each from a thread of its own: kernels, graphs, the legacy launches, fills,
 * copies within the device, and the twins of all these with the per-thread default stream. Beside them what must never wait:
 * copies from and to the host, events, synchronisations.
 *
 *   paths
 *
 * Each thread makes its call once to see that it works; then "ready". On SIGTERM each makes it again and prints "gated NAME" or
 * "free NAME" when it has returned; one JSON line when all have. So whoever holds work back sees which ways are left open. */
#include "common.h"
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#define BYTES 4096

static CUcontext context;
static CUdevice device;
static CUfunction function;
static CUdeviceptr to, from;
static pthread_barrier_t warm;

struct path {
    const char *name;
    CUresult (*call)(void *address, CUstream stream);
    int is_free;
};

/* Calls `address` as a function of these types. */
#define AS(types, ...) return ((CUresult(*) types)address)(__VA_ARGS__)
#define SHAPE 1, 1, 1, 32, 1, 1, 0

static CUresult kernel(void *address, CUstream stream) {
    AS((CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), function, SHAPE, stream,
       NULL, NULL);
}

static CUresult kernel_ex(void *address, CUstream stream) {
    CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, stream, NULL, 0};
    AS((const CUlaunchConfig *, CUfunction, void **, void **), &config, function, NULL, NULL);
}

static CUresult cooperative(void *address, CUstream stream) {
    AS((CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **), function, SHAPE, stream, NULL);
}

static CUresult many(void *address, CUstream stream) {
    CUDA_LAUNCH_PARAMS one = {function, SHAPE, stream, NULL};
    AS((CUDA_LAUNCH_PARAMS *, unsigned, unsigned), &one, 1, 0);
}

static CUresult graph(void *address, CUstream stream) {
    static __thread CUgraphExec exec;
    if (!exec) {
        CUgraph made;
        CUgraphNode node;
        CUDA_KERNEL_NODE_PARAMS params = {.func = function, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
        CHECK(cuGraphCreate(&made, 0));
        CHECK(cuGraphAddKernelNode(&node, made, NULL, 0, &params));
        CHECK(cuGraphInstantiate(&exec, made, 0));
    }
    AS((CUgraphExec, CUstream), exec, stream);
}

static CUresult legacy(void *address, CUstream stream) { (void)stream; AS((CUfunction), function); }
static CUresult legacy_grid(void *address, CUstream stream) { (void)stream; AS((CUfunction, int, int), function, 1, 1); }
static CUresult legacy_async(void *address, CUstream stream) { AS((CUfunction, int, int, CUstream), function, 1, 1, stream); }

#define FILLS(bits, type)                                                                                                                            \
    static CUresult fill##bits(void *address, CUstream stream) { (void)stream; AS((CUdeviceptr, type, size_t), to, 1, 64); }                         \
    static CUresult fill##bits##_async(void *address, CUstream stream) { AS((CUdeviceptr, type, size_t, CUstream), to, 1, 64, stream); }              \
    static CUresult plane##bits(void *address, CUstream stream) {                                                                                    \
        (void)stream;                                                                                                                                \
        AS((CUdeviceptr, size_t, type, size_t, size_t), to, 512, 1, 8, 2);                                                                           \
    }                                                                                                                                                \
    static CUresult plane##bits##_async(void *address, CUstream stream) {                                                                            \
        AS((CUdeviceptr, size_t, type, size_t, size_t, CUstream), to, 512, 1, 8, 2, stream);                                                         \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

static CUresult copy(void *address, CUstream stream) { (void)stream; AS((CUdeviceptr, CUdeviceptr, size_t), to, from, BYTES); }
static CUresult copy_async(void *address, CUstream stream) { AS((CUdeviceptr, CUdeviceptr, size_t, CUstream), to, from, BYTES, stream); }
static CUresult peer(void *address, CUstream stream) {
    (void)stream;
    AS((CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t), to, context, from, context, BYTES);
}
static CUresult peer_async(void *address, CUstream stream) {
    AS((CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream), to, context, from, context, BYTES, stream);
}

#define DESCRIPTION                                                                                                                  \
    .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .srcPitch = 512, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to, \
    .dstPitch = 512, .WidthInBytes = 64, .Height = 2
static CUresult copy_2d(void *address, CUstream stream) {
    (void)stream;
    CUDA_MEMCPY2D one = {DESCRIPTION};
    AS((const CUDA_MEMCPY2D *), &one);
}
static CUresult copy_2d_async(void *address, CUstream stream) {
    CUDA_MEMCPY2D one = {DESCRIPTION};
    AS((const CUDA_MEMCPY2D *, CUstream), &one, stream);
}
static CUresult copy_3d(void *address, CUstream stream) {
    (void)stream;
    CUDA_MEMCPY3D one = {DESCRIPTION, .Depth = 1, .srcHeight = 2, .dstHeight = 2};
    AS((const CUDA_MEMCPY3D *), &one);
}
static CUresult copy_3d_async(void *address, CUstream stream) {
    CUDA_MEMCPY3D one = {DESCRIPTION, .Depth = 1, .srcHeight = 2, .dstHeight = 2};
    AS((const CUDA_MEMCPY3D *, CUstream), &one, stream);
}
static CUresult peer_3d(void *address, CUstream stream) {
    (void)stream;
    CUDA_MEMCPY3D_PEER one = {DESCRIPTION, .Depth = 1, .srcHeight = 2, .dstHeight = 2, .srcContext = context, .dstContext = context};
    AS((const CUDA_MEMCPY3D_PEER *), &one);
}
static CUresult peer_3d_async(void *address, CUstream stream) {
    CUDA_MEMCPY3D_PEER one = {DESCRIPTION, .Depth = 1, .srcHeight = 2, .dstHeight = 2, .srcContext = context, .dstContext = context};
    AS((const CUDA_MEMCPY3D_PEER *, CUstream), &one, stream);
}

/* What the host takes part in, and what moves nothing. */
static char host[BYTES];
static CUresult from_host(void *address, CUstream stream) { (void)stream; AS((CUdeviceptr, const void *, size_t), to, host, BYTES); }
static CUresult to_host(void *address, CUstream stream) { (void)stream; AS((void *, CUdeviceptr, size_t), host, from, BYTES); }
static CUresult from_host_async(void *address, CUstream stream) { AS((CUdeviceptr, const void *, size_t, CUstream), to, host, BYTES, stream); }
static CUresult to_host_async(void *address, CUstream stream) { AS((void *, CUdeviceptr, size_t, CUstream), host, from, BYTES, stream); }
static CUresult unified_from_host(void *address, CUstream stream) {
    (void)stream;
    AS((CUdeviceptr, CUdeviceptr, size_t), to, (CUdeviceptr)(uintptr_t)host, BYTES);
}
static CUresult synchronize(void *address, CUstream stream) { AS((CUstream), stream); }
static CUresult record(void *address, CUstream stream) {
    static CUevent event;
    if (!event) CHECK(cuEventCreate(&event, 0));
    AS((CUevent, CUstream), event, stream);
}
static void nothing(void *data) { (void)data; }
static CUresult host_function(void *address, CUstream stream) { AS((CUstream, CUhostFn, void *), stream, nothing, NULL); }
static CUresult allocate(void *address, CUstream stream) {
    (void)stream;
    CUdeviceptr more;
    AS((CUdeviceptr *, size_t), &more, BYTES);
}

#define BOTH(name, twin, call) {name, call, 0}, {name twin, call, 0}
#define FILL(bits)                                                                                                             \
    BOTH("cuMemsetD" #bits "_v2", "_ptds", fill##bits), BOTH("cuMemsetD" #bits "Async", "_ptsz", fill##bits##_async),          \
        BOTH("cuMemsetD2D" #bits "_v2", "_ptds", plane##bits), BOTH("cuMemsetD2D" #bits "Async", "_ptsz", plane##bits##_async)

static const struct path paths[] = {
    BOTH("cuLaunchKernel", "_ptsz", kernel),
    BOTH("cuLaunchKernelEx", "_ptsz", kernel_ex),
    BOTH("cuLaunchCooperativeKernel", "_ptsz", cooperative),
    {"cuLaunchCooperativeKernelMultiDevice", many, 0},
    BOTH("cuGraphLaunch", "_ptsz", graph),
    {"cuLaunch", legacy, 0},
    {"cuLaunchGrid", legacy_grid, 0},
    {"cuLaunchGridAsync", legacy_async, 0},
    FILL(8),
    FILL(16),
    FILL(32),
    BOTH("cuMemcpyDtoD_v2", "_ptds", copy),
    BOTH("cuMemcpyDtoDAsync_v2", "_ptsz", copy_async),
    BOTH("cuMemcpy", "_ptds", copy),
    BOTH("cuMemcpyAsync", "_ptsz", copy_async),
    BOTH("cuMemcpyPeer", "_ptds", peer),
    BOTH("cuMemcpyPeerAsync", "_ptsz", peer_async),
    BOTH("cuMemcpy2D_v2", "_ptds", copy_2d),
    BOTH("cuMemcpy2DUnaligned_v2", "_ptds", copy_2d),
    BOTH("cuMemcpy2DAsync_v2", "_ptsz", copy_2d_async),
    BOTH("cuMemcpy3D_v2", "_ptds", copy_3d),
    BOTH("cuMemcpy3DAsync_v2", "_ptsz", copy_3d_async),
    BOTH("cuMemcpy3DPeer", "_ptds", peer_3d),
    BOTH("cuMemcpy3DPeerAsync", "_ptsz", peer_3d_async),
    {"cuMemcpyHtoD_v2", from_host, 1},
    {"cuMemcpyDtoH_v2", to_host, 1},
    {"cuMemcpyHtoDAsync_v2", from_host_async, 1},
    {"cuMemcpyDtoHAsync_v2_ptsz", to_host_async, 1},
    {"cuMemcpy", unified_from_host, 1},
    {"cuStreamSynchronize", synchronize, 1},
    {"cuEventRecord", record, 1},
    {"cuLaunchHostFunc", host_function, 1},
    {"cuMemAlloc_v2", allocate, 1},
};
enum { PATHS = sizeof paths / sizeof *paths };

static void *walk(void *argument) {
    const struct path *path = argument;
    void *address = dlsym(RTLD_DEFAULT, path->name);
    if (!address) {
        fprintf(stderr, "the driver has no %s\n", path->name);
        exit(3);
    }
    CHECK(cuCtxSetCurrent(context));
    /* What has no stream argument, or is a twin, takes a default stream; what waits for the whole context by that would hold up others. */
    CUstream stream = NULL;
    if (!strstr(path->name, "_ptsz")) CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int time = 0; time < 2; time++) {
        CUresult code = path->call(address, stream);
        if (code != CUDA_SUCCESS) {
            fprintf(stderr, "%s: %s\n", path->name, error_name(code));
            exit(3);
        }
        if (time == 1) break;
        pthread_barrier_wait(&warm);
        while (!stop_requested) usleep(1000);
    }
    printf("%s %s\n", path->is_free ? "free" : "gated", path->name);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    stop_on_signals();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleGetFunction(&function, load_kernels(argv[0]), "empty"));
    CUresult (*shape)(CUfunction, int, int, int) = (CUresult(*)(CUfunction, int, int, int))dlsym(RTLD_DEFAULT, "cuFuncSetBlockShape");
    if (!shape) {
        fprintf(stderr, "the driver has no cuFuncSetBlockShape\n");
        return 3;
    }
    CHECK(shape(function, 32, 1, 1));
    CHECK(cuMemAlloc(&to, BYTES));
    CHECK(cuMemAlloc(&from, BYTES));
    pthread_barrier_init(&warm, NULL, PATHS + 1);
    pthread_t threads[PATHS];
    for (int i = 0; i < PATHS; i++) pthread_create(&threads[i], NULL, walk, (void *)&paths[i]);
    pthread_barrier_wait(&warm);
    CHECK(cuCtxSynchronize());
    int gated = 0;
    for (int i = 0; i < PATHS; i++) gated += !paths[i].is_free;
    puts("ready");
    for (int i = 0; i < PATHS; i++) pthread_join(threads[i], NULL);
    printf("{\"client\": \"paths\", \"gated\": %d, \"free\": %d}\n", gated, PATHS - gated);
    return 0;
}
