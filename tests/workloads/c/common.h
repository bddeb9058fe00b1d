/* What the C programs share: error checks that end the program with the driver's own error name, a clock, a stop signal and
 * option parsing. They use the CUDA driver API alone, directly linked, so they run on any libcuda.so.1. */
#pragma once
#include <cuda.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t stop_requested;

static inline const char *error_name(CUresult code) {
    const char *name = NULL;
    return cuGetErrorName(code, &name) == CUDA_SUCCESS && name ? name : "unknown error code";
}

#define CHECK(call)                                                                              \
    do {                                                                                         \
        CUresult code_ = (call);                                                                 \
        if (code_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, error_name(code_));    \
            exit(3);                                                                             \
        }                                                                                        \
    } while (0)

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_stop(int signal) {
    (void)signal;
    stop_requested = 1;
}

static inline void stop_on_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_stop;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* Value of `--name VALUE` in argv, or `fallback`. */
static inline const char *option(int argc, char **argv, const char *name, const char *fallback) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return argv[i + 1];
    return fallback;
}

static inline long option_number(int argc, char **argv, const char *name, long fallback) {
    const char *text = option(argc, argv, name, NULL);
    if (!text) return fallback;
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || end == text) {
        fprintf(stderr, "%s %s: not a whole number\n", name, text);
        exit(2);
    }
    return value;
}

/* Image with the kernels of tests/workloads/cuda: `$MGPU_KERNELS`, else `kernels.fatbin` beside the program. */
static inline CUmodule load_kernels(const char *argv0) {
    char path[4096];
    const char *given = getenv("MGPU_KERNELS");
    if (given) {
        snprintf(path, sizeof path, "%s", given);
    } else {
        const char *slash = strrchr(argv0, '/');
        int length = slash ? (int)(slash - argv0) + 1 : 0;
        snprintf(path, sizeof path, "%.*skernels.fatbin", length, argv0);
    }
    CUmodule module;
    CHECK(cuModuleLoad(&module, path));
    return module;
}
