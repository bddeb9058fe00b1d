/* Allocates device memory until the driver (or a limiter) refuses, from several processes and threads at once.
 *
 *   alloc [--block-mib 64] [--block-bytes N] [--threads 1] [--processes 1] [--kind plain|pitch|managed|async|mixed] [--max-blocks N]
 *         [--rounds 1] [--hold] [--device 0]
 *
 * Each round fills up, then frees all. One JSON line: bytes held at the fullest by each process, the error that ended it, and
 * whether a freed block could be allocated again at once. --hold waits for SIGTERM with everything allocated ("full" printed). */
#include "common.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { PLAIN, PITCH, MANAGED, ASYNC, MIXED };
struct block {
    CUdeviceptr at;
    int async;
};

static size_t block_bytes;
static long max_blocks, thread_count, rounds;
static int ordinal;
static enum kind kind;
static CUcontext context;
static atomic_ulong held;
static atomic_int last_error;
static pthread_barrier_t full, emptied;

static CUresult allocate(struct block *block, enum kind how) {
    size_t pitch;
    block->async = how == ASYNC;
    switch (how) {
    case PITCH:
        return cuMemAllocPitch(&block->at, &pitch, block_bytes / 512, 512, 4);
    case MANAGED:
        return cuMemAllocManaged(&block->at, block_bytes, CU_MEM_ATTACH_GLOBAL);
    case ASYNC: {
        CUresult code = cuMemAllocAsync(&block->at, block_bytes, CU_STREAM_PER_THREAD);
        return code ? code : cuStreamSynchronize(CU_STREAM_PER_THREAD);
    }
    default:
        return cuMemAlloc(&block->at, block_bytes);
    }
}

static void *fill(void *argument) {
    long thread = (long)argument;
    CHECK(cuCtxSetCurrent(context));
    struct block *blocks = calloc((size_t)max_blocks, sizeof *blocks);
    for (long round = 0; round < rounds; round++) {
        long count = 0;
        while (count < max_blocks) {
            enum kind how = kind == MIXED ? (enum kind)((count + thread) % 4) : kind;
            CUresult code = allocate(&blocks[count], how);
            if (code != CUDA_SUCCESS) {
                atomic_store(&last_error, (int)code);
                break;
            }
            atomic_fetch_add(&held, block_bytes);
            count++;
        }
        pthread_barrier_wait(&full);
        pthread_barrier_wait(&emptied);
        while (count > 0) {
            struct block *block = &blocks[--count];
            CHECK(block->async ? cuMemFreeAsync(block->at, CU_STREAM_PER_THREAD) : cuMemFree(block->at));
            atomic_fetch_sub(&held, block_bytes);
        }
        CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        pthread_barrier_wait(&full);
    }
    free(blocks);
    return NULL;
}

static int run(int hold) {
    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, ordinal));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    pthread_barrier_init(&full, NULL, (unsigned)thread_count + 1);
    pthread_barrier_init(&emptied, NULL, (unsigned)thread_count + 1);
    pthread_t threads[256];
    for (long i = 0; i < thread_count; i++) pthread_create(&threads[i], NULL, fill, (void *)i);
    unsigned long most = 0;
    for (long round = 0; round < rounds; round++) {
        pthread_barrier_wait(&full);
        if (atomic_load(&held) > most) most = atomic_load(&held);
        if (hold) {
            puts("full");
            while (!stop_requested) usleep(1000);
        }
        pthread_barrier_wait(&emptied);
        pthread_barrier_wait(&full);
    }
    for (long i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
    struct block again;
    CUresult code = allocate(&again, PLAIN);
    size_t free_bytes = 0, total_bytes = 0;
    CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
    size_t device_bytes = 0;
    CHECK(cuDeviceTotalMem(&device_bytes, device));
    printf("{\"pid\": %d, \"held_bytes\": %lu, \"error\": \"%s\", \"again\": \"%s\", \"free\": %zu, \"total\": %zu, \"device\": %zu}\n",
           (int)getpid(), most, error_name((CUresult)atomic_load(&last_error)), error_name(code), free_bytes, total_bytes, device_bytes);
    return 0;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    stop_on_signals();
    block_bytes = (size_t)option_number(argc, argv, "--block-bytes", option_number(argc, argv, "--block-mib", 64) << 20);
    thread_count = option_number(argc, argv, "--threads", 1);
    max_blocks = option_number(argc, argv, "--max-blocks", 1 << 16);
    rounds = option_number(argc, argv, "--rounds", 1);
    ordinal = (int)option_number(argc, argv, "--device", 0);
    long processes = option_number(argc, argv, "--processes", 1);
    int hold = 0;
    for (int i = 1; i < argc; i++) hold |= strcmp(argv[i], "--hold") == 0;
    const char *name = option(argc, argv, "--kind", "plain");
    static const char *const names[] = {"plain", "pitch", "managed", "async", "mixed"};
    int known = 0;
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) kind = (enum kind)i, known = 1;
    if (!known || thread_count < 1 || thread_count > 256 || processes < 1 || processes > 64) {
        fprintf(stderr, "alloc: --kind is plain, pitch, managed, async or mixed; --threads 1 to 256; --processes 1 to 64\n");
        return 2;
    }
    if (processes == 1) return run(hold);
    for (long i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child == 0) exit(run(hold));
    }
    int worst = 0, status;
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) worst = 1;
    return worst;
}
