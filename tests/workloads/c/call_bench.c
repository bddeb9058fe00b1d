/* Times driver calls in batches on request, so that two copies of it (one with a shim, one without) can take turns.
 *
 *   call_bench [--call launch|alloc] [--threads 1] [--bytes 65536] [--writes-per-1000 0]
 *                                      requests on stdin, one a line; one JSON line each on stdout
 *     batch N    every thread makes N calls: mean CPU time of one, in ns, over all threads
 *     sample N   every thread times each of N calls: percentiles of all, in ns
 *     plain N    the calls alone, untimed, between two getppid() (for counting system calls)
 *
 * Streams are drained between requests, outside the measured time. With --writes-per-1000 so many of 1000 calls have a
 * cuStreamWriteValue32 right behind them: a program that makes a limiter's own driver calls itself. */
#include "common.h"
#include <pthread.h>
#include <unistd.h>

enum call { LAUNCH, ALLOC };
enum mode { BATCH, SAMPLE, PLAIN, QUIT };

static enum call call;
static enum mode mode;
static long calls, thread_count, bytes, writes_per_1000;
static CUcontext context;
static CUfunction function;
static pthread_barrier_t go, done;
static double cpu_ns[64];
static uint32_t *samples;

static uint64_t cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static CUdeviceptr *held;

static inline CUresult once(CUstream stream, long thread, long i) {
    if (call == LAUNCH) return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    return cuMemAlloc(&held[thread * calls + i], (size_t)bytes);
}

/* One call, and the write behind it when its turn has come; `owed` counts thousandths of a write. */
static inline CUresult step(CUstream stream, CUdeviceptr word, long thread, long i, long *owed) {
    CUresult result = once(stream, thread, i);
    *owed += writes_per_1000;
    if (result != CUDA_SUCCESS || *owed < 1000) return result;
    *owed -= 1000;
    return cuStreamWriteValue32(stream, word, (cuuint32_t)i, 0);
}

static void *work(void *argument) {
    long thread = (long)argument;
    CUstream stream;
    CUdeviceptr word;
    long owed = 0;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&word, 4096));
    for (;;) {
        pthread_barrier_wait(&go);
        if (mode == QUIT) return NULL;
        if (mode == PLAIN) getppid();
        uint64_t start = cpu_now();
        if (mode == SAMPLE) {
            for (long i = 0; i < calls; i++) {
                uint64_t before = now_ns();
                CHECK(step(stream, word, thread, i, &owed));
                samples[thread * calls + i] = (uint32_t)(now_ns() - before);
            }
        } else {
            for (long i = 0; i < calls; i++) CHECK(step(stream, word, thread, i, &owed));
        }
        cpu_ns[thread] = (double)(cpu_now() - start) / (double)calls;
        if (mode == PLAIN) getppid();
        CHECK(cuStreamSynchronize(stream));
        for (long i = 0; call == ALLOC && i < calls; i++) CHECK(cuMemFree(held[thread * calls + i]));
        pthread_barrier_wait(&done);
    }
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void report(void) {
    double sum = 0;
    for (long t = 0; t < thread_count; t++) sum += cpu_ns[t];
    if (mode == SAMPLE) {
        size_t count = (size_t)(thread_count * calls);
        qsort(samples, count, sizeof *samples, by_size);
        printf("{\"p50\": %u, \"p90\": %u, \"p99\": %u}\n", samples[count / 2], samples[count * 90 / 100], samples[count * 99 / 100]);
    } else {
        printf("{\"mean\": %.3f}\n", sum / (double)thread_count);
    }
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *name = option(argc, argv, "--call", "launch");
    call = strcmp(name, "alloc") == 0 ? ALLOC : LAUNCH;
    thread_count = option_number(argc, argv, "--threads", 1);
    bytes = option_number(argc, argv, "--bytes", 64 << 10);
    writes_per_1000 = option_number(argc, argv, "--writes-per-1000", 0);
    if (thread_count < 1 || thread_count > 64 || writes_per_1000 < 0 || writes_per_1000 > 1000) return 2;
    CUdevice device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleGetFunction(&function, load_kernels(argv[0]), "empty"));
    pthread_barrier_init(&go, NULL, (unsigned)thread_count + 1);
    pthread_barrier_init(&done, NULL, (unsigned)thread_count + 1);
    pthread_t threads[64];
    for (long i = 0; i < thread_count; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    puts("ready");
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        char verb[16];
        if (sscanf(line, "%15s %ld", verb, &calls) != 2 || calls < 1 || calls > 1 << 20) return 2;
        mode = strcmp(verb, "sample") == 0 ? SAMPLE : strcmp(verb, "plain") == 0 ? PLAIN : BATCH;
        samples = realloc(samples, (size_t)(thread_count * calls) * sizeof *samples);
        held = realloc(held, (size_t)(thread_count * calls) * sizeof *held);
        pthread_barrier_wait(&go);
        pthread_barrier_wait(&done);
        report();
    }
    mode = QUIT;
    pthread_barrier_wait(&go);
    for (long i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
    return 0;
}
