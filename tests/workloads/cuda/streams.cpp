// Two streams and an event: the second stream's kernel must see the first one's result.
#include "sample.h"
#include <vector>

int main(int, char **argv) {
    sample s = start(argv[0]);
    int n = 1 << 18;
    size_t bytes = n * sizeof(float);
    float *host;
    CHECK(cuMemAllocHost((void **)&host, bytes));
    for (int i = 0; i < n; i++) host[i] = (float)i;
    CUstream first, second;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CUevent done;
    CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    CUdeviceptr x;
    CHECK(cuMemAllocAsync(&x, bytes, first));
    CHECK(cuMemcpyHtoDAsync(x, host, bytes, first));
    CUfunction scale = kernel(s, "scale");
    float three = 3.0f, half = 0.5f;
    void *first_args[] = {&x, &three, &n}, *second_args[] = {&x, &half, &n};
    CHECK(cuLaunchKernel(scale, n / 256, 1, 1, 256, 1, 1, 0, first, first_args, nullptr));
    CHECK(cuEventRecord(done, first));
    CHECK(cuStreamWaitEvent(second, done, 0));
    CHECK(cuLaunchKernel(scale, n / 256, 1, 1, 256, 1, 1, 0, second, second_args, nullptr));
    std::vector<float> result(n);
    CHECK(cuMemcpyDtoHAsync(result.data(), x, bytes, second));
    CHECK(cuStreamSynchronize(second));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && result[i] == i * 3.0f * 0.5f;
    CHECK(cuMemFreeAsync(x, second));
    CHECK(cuStreamSynchronize(second));
    CHECK(cuEventDestroy(done));
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    CHECK(cuMemFreeHost(host));
    return finish("streams", s, right);
}
