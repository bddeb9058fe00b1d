// A graph captured from a stream (memset, copy, two kernels), launched ten times.
#include "sample.h"
#include <vector>

int main(int, char **argv) {
    sample s = start(argv[0]);
    int n = 1 << 16;
    size_t bytes = n * sizeof(float);
    float *host;
    CHECK(cuMemAllocHost((void **)&host, bytes));
    for (int i = 0; i < n; i++) host[i] = (float)i;
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr a, b, c;
    CHECK(cuMemAlloc(&a, bytes));
    CHECK(cuMemAlloc(&b, bytes));
    CHECK(cuMemAlloc(&c, bytes));
    float two = 2.0f;
    void *scale_args[] = {&a, &two, &n}, *add_args[] = {&a, &b, &c, &n};
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(a, host, bytes, stream));
    CHECK(cuMemsetD32Async(b, 0, n, stream));
    CHECK(cuLaunchKernel(kernel(s, "scale"), n / 256, 1, 1, 256, 1, 1, 0, stream, scale_args, nullptr));
    CHECK(cuLaunchKernel(kernel(s, "vector_add"), n / 256, 1, 1, 256, 1, 1, 0, stream, add_args, nullptr));
    CUgraph graph;
    CHECK(cuStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
    if (nodes != 4) {
        fprintf(stderr, "the captured graph has %zu nodes, not the 4 that were captured\n", nodes);
        return 1;
    }
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 10; i++) CHECK(cuGraphLaunch(exec, stream));
    std::vector<float> result(n);
    CHECK(cuMemcpyDtoHAsync(result.data(), c, bytes, stream));
    CHECK(cuStreamSynchronize(stream));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && result[i] == 2.0f * i;
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    for (CUdeviceptr p : {a, b, c}) CHECK(cuMemFree(p));
    return finish("graph", s, right);
}
