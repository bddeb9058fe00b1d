/* Load generator: launches one kernel over and over from one thread, as deep as the driver (or a limiter) lets it.
 *
 *   saturate [--kernel spin_1000us] [--seconds 10 | --launches N] [--sync-every K] [--gap-us G] [--no-sync 1] [--streams S]
 *            [--memory-mib M] [--graph N]
 *
 * Prints "ready" once its first kernel has completed, and one JSON line at its end. SIGTERM ends it early. --sync-every 0
 * never synchronises; --gap-us sleeps between bursts of --sync-every launches (think time), with --no-sync 1 without having
 * waited for them; --graph N launches a graph of N
 * such kernels instead of a kernel. */
#include "common.h"

static CUgraphExec build_graph(CUfunction function, long nodes, unsigned blocks) {
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode last = NULL;
    for (long i = 0; i < nodes; i++) {
        CUDA_KERNEL_NODE_PARAMS params = {.func = function, .gridDimX = blocks, .gridDimY = 1, .gridDimZ = 1,
                                          .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1};
        CUgraphNode node;
        CHECK(cuGraphAddKernelNode(&node, graph, last ? &last : NULL, last ? 1 : 0, &params));
        last = node;
    }
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    stop_on_signals();
    const char *kernel = option(argc, argv, "--kernel", "spin_1000us");
    double seconds = atof(option(argc, argv, "--seconds", "10"));
    long limit = option_number(argc, argv, "--launches", -1);
    long sync_every = option_number(argc, argv, "--sync-every", 0);
    long gap_us = option_number(argc, argv, "--gap-us", 0);
    long stream_count = option_number(argc, argv, "--streams", 1);
    long memory_mib = option_number(argc, argv, "--memory-mib", 0);
    long graph_nodes = option_number(argc, argv, "--graph", 0);
    int no_sync = option_number(argc, argv, "--no-sync", 0) != 0;
    unsigned blocks = (unsigned)option_number(argc, argv, "--blocks", 108);
    if (stream_count < 1 || stream_count > 64) stream_count = 1;

    CHECK(cuInit(0));
    CUdevice device;
    CUcontext context;
    CHECK(cuDeviceGet(&device, (int)option_number(argc, argv, "--device", 0)));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, load_kernels(argv[0]), kernel));
    CUdeviceptr memory = 0;
    if (memory_mib > 0) CHECK(cuMemAlloc(&memory, (size_t)memory_mib << 20));
    CUstream streams[64];
    for (long i = 0; i < stream_count; i++) CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CUgraphExec graph = graph_nodes > 0 ? build_graph(function, graph_nodes, blocks) : NULL;

    CHECK(cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, streams[0], NULL, NULL));
    CHECK(cuStreamSynchronize(streams[0]));
    puts("ready");
    uint64_t start = now_ns(), end = start + (uint64_t)(seconds * 1e9);
    long launches = 0;
    while (!stop_requested && (limit >= 0 ? launches < limit : now_ns() < end)) {
        CUstream stream = streams[launches % stream_count];
        if (graph)
            CHECK(cuGraphLaunch(graph, stream));
        else
            CHECK(cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, stream, NULL, NULL));
        launches++;
        if (sync_every > 0 && launches % sync_every == 0) {
            if (!no_sync) CHECK(cuStreamSynchronize(stream));
            if (gap_us > 0) {
                struct timespec gap = {gap_us / 1000000, gap_us % 1000000 * 1000};
                nanosleep(&gap, NULL);
            }
        }
    }
    CHECK(cuCtxSynchronize());
    printf("{\"client\": \"c\", \"kernel\": \"%s\", \"launches\": %ld, \"seconds\": %.3f}\n", kernel, launches, (now_ns() - start) / 1e9);
    if (memory) CHECK(cuMemFree(memory));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
