/* Forks before and after cuInit: a child may start CUDA if its parent had not, and never if it had. */
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_min.h"

CUresult cuInit(unsigned);
CUresult cuDeviceGetCount(int *);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);

static void in_child(void (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        body();
        exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0), child);
    EXPECT(status, 0);
}

static void starts(void) {
    int count;
    EXPECT(cuDeviceGetCount(&count), 3);
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
}

static void may_not_start(void) {
    CUdeviceptr memory;
    int count;
    EXPECT(cuMemAlloc_v2(&memory, 16), 3);
    EXPECT(cuDeviceGetCount(&count), 3);
    EXPECT(cuInit(0), 3);
    EXPECT(cuInit(0), 3);
}

int main(void) {
    CUcontext context;
    CUdeviceptr memory;
    in_child(starts);
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    in_child(may_not_start);
    /* The parent goes on as if nothing had been. */
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    CHECK(cuMemFree_v2(memory));
    return 0;
}
