// c = a + b: allocation, copies both ways, one kernel.
#include "sample.h"
#include <vector>

int main(int, char **argv) {
    sample s = start(argv[0]);
    int n = 1 << 20;
    size_t bytes = n * sizeof(float);
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) a[i] = i * 0.5f, b[i] = 1.0f - i;
    CUdeviceptr da, db, dc;
    CHECK(cuMemAlloc(&da, bytes));
    CHECK(cuMemAlloc(&db, bytes));
    CHECK(cuMemAlloc(&dc, bytes));
    CHECK(cuMemcpyHtoD(da, a.data(), bytes));
    CHECK(cuMemcpyHtoD(db, b.data(), bytes));
    void *args[] = {&da, &db, &dc, &n};
    CHECK(cuLaunchKernel(kernel(s, "vector_add"), (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
    CHECK(cuMemcpyDtoH(c.data(), dc, bytes));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && c[i] == a[i] + b[i];
    // Copies are real everywhere: what went down must come back.
    std::vector<float> back(n);
    CHECK(cuMemcpyDtoH(back.data(), da, bytes));
    if (memcmp(back.data(), a.data(), bytes) != 0) {
        fprintf(stderr, "a copy did not come back as it went\n");
        return 1;
    }
    for (CUdeviceptr p : {da, db, dc}) CHECK(cuMemFree(p));
    return finish("vector_add", s, right);
}
