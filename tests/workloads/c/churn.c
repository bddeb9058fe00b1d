/* Leaves work on the device where nobody waits for it, again and again, then launches on.
 *
 *   churn --how context|primary|reset|threads|idle|capture [--rounds 50]
 *
 * context, primary, reset: a stream is destroyed with work pending, then its context is, or the device's primary context is released
 * or reset. threads, idle: a thread launches on its own default stream and ends, or never launches again. capture: a stream is
 * launched on once and for all, then another one is destroyed while it captures.
 *
 * With the last three, "ready" comes once that is done; SIGUSR1 starts the launches. One JSON line. */
#include "common.h"
#include <pthread.h>
#include <unistd.h>

CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry spin_1000us() { ret; }\n";
static CUdevice device;
static CUcontext context;
static CUfunction kernel;
static volatile sig_atomic_t go_on;
static int stays;
static pthread_barrier_t launched;

static void on_go(int signal) {
    (void)signal;
    go_on = 1;
}

/* Makes a context current by `how`, with the kernel in it. */
static void enter(const char *how) {
    if (strcmp(how, "primary") == 0 || strcmp(how, "reset") == 0) {
        CHECK(cuDevicePrimaryCtxRetain(&context, device));
        CHECK(cuCtxSetCurrent(context));
    } else {
        CHECK(cuCtxCreate(&context, NULL, 0, device));
    }
    CUmodule module;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "spin_1000us"));
}

static void leave(const char *how) {
    if (strcmp(how, "reset") == 0) CHECK(cuDevicePrimaryCtxReset(device));
    if (strcmp(how, "primary") == 0)
        CHECK(cuDevicePrimaryCtxRelease(device));
    else if (strcmp(how, "reset") != 0)
        CHECK(cuCtxDestroy(context));
}

static void launch(CUstream stream, int count) {
    for (int i = 0; i < count; i++) CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void *launch_once(void *count) {
    CHECK(cuCtxSetCurrent(context));
    for (long i = 0; i < (long)count; i++) CHECK(cuLaunchKernel_ptsz(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    pthread_barrier_wait(&launched);
    while (stays) pause();
    return NULL;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct sigaction action = {.sa_handler = on_go};
    sigaction(SIGUSR1, &action, NULL);
    const char *how = option(argc, argv, "--how", "context");
    long rounds = option_number(argc, argv, "--rounds", 50);
    CUstream stream, other;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    stays = strcmp(how, "idle") == 0;
    int captures = strcmp(how, "capture") == 0;
    if (stays || captures || strcmp(how, "threads") == 0) {
        enter(how);
        if (captures) {
            CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
            launch(other, 5);
            CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
            CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
            launch(stream, 1);
            CHECK(cuStreamDestroy(stream));
        }
        pthread_barrier_init(&launched, NULL, 2);
        for (long i = 1; i <= 5 && !captures; i++) {
            pthread_t thread;
            pthread_create(&thread, NULL, launch_once, (void *)i);
            pthread_barrier_wait(&launched);
            if (!stays) pthread_join(thread, NULL);
        }
        puts("ready");
        while (!go_on) usleep(1000);
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        for (long i = 0; i < rounds; i++) {
            launch(stream, 3);
            CHECK(cuStreamSynchronize(stream));
        }
    } else {
        for (long i = 0; i < rounds; i++) {
            enter(how);
            CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
            launch(stream, 3);
            CHECK(cuStreamDestroy(stream));
            leave(how);
        }
    }
    printf("{\"how\": \"%s\", \"rounds\": %ld}\n", how, rounds);
    return 0;
}
