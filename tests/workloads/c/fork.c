/* What a forked child gets from the driver that its parent has initialised, and what the parent has afterwards.
 *
 *   fork
 *
 * "ready" once the parent's first kernel has completed. On SIGTERM it forks; the child allocates, frees what the parent holds, and
 * launches. One JSON line: the child's errors in this order, its status, and the bytes that the parent sees free before and after. */
#include "common.h"
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    stop_on_signals();
    CUdevice device;
    CUcontext context;
    CUfunction function;
    CUdeviceptr held, more;
    CUstream stream;
    size_t before, after, total;
    int codes[3] = {-1, -1, -1}, told[2], status;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleGetFunction(&function, load_kernels(argv[0]), "empty"));
    CHECK(cuMemAlloc(&held, 64 << 20));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuCtxSynchronize());
    puts("ready");
    while (!stop_requested) usleep(1000);
    CHECK(cuMemGetInfo(&before, &total));
    if (pipe(told)) return 3;
    pid_t child = fork();
    if (child == 0) {
        codes[0] = (int)cuMemAlloc(&more, 64 << 20);
        codes[1] = (int)cuMemFree(held);
        codes[2] = (int)cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
        _exit(write(told[1], codes, sizeof codes) == sizeof codes ? 0 : 1);
    }
    close(told[1]);
    if (read(told[0], codes, sizeof codes) != sizeof codes) return 3;
    waitpid(child, &status, 0);
    CHECK(cuMemGetInfo(&after, &total));
    printf("{\"client\": \"fork\", \"child\": [\"%s\", \"%s\", \"%s\"], \"status\": %d, \"lost\": %ld}\n", error_name((CUresult)codes[0]),
           error_name((CUresult)codes[1]), error_name((CUresult)codes[2]), status, (long)before - (long)after);
    return 0;
}
