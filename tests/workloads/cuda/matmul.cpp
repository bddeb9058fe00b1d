// c = a * b with tiles in shared memory, repeated; --seconds S keeps it running.
#include "sample.h"
#include <cmath>
#include <vector>

int main(int argc, char **argv) {
    sample s = start(argv[0]);
    stop_on_signals();
    double seconds = atof(option(argc, argv, "--seconds", "0"));
    int side = 512;
    size_t bytes = sizeof(float) * side * side;
    std::vector<float> a(side * side), b(side * side), c(side * side);
    for (int i = 0; i < side * side; i++) a[i] = (i % 7) * 0.25f, b[i] = (i % 5) - 2.0f;
    CUdeviceptr da, db, dc;
    CHECK(cuMemAlloc(&da, bytes));
    CHECK(cuMemAlloc(&db, bytes));
    CHECK(cuMemAlloc(&dc, bytes));
    CHECK(cuMemcpyHtoD(da, a.data(), bytes));
    CHECK(cuMemcpyHtoD(db, b.data(), bytes));
    void *args[] = {&da, &db, &dc, &side};
    CUfunction matmul = kernel(s, "matmul");
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    do {
        CHECK(cuLaunchKernel(matmul, side / 16, side / 16, 1, 16, 16, 1, 0, nullptr, args, nullptr));
        CHECK(cuCtxSynchronize());
    } while (!stop_requested && now_ns() < end);
    CHECK(cuMemcpyDtoH(c.data(), dc, bytes));
    bool right = true;
    for (int probe = 0; probe < 64; probe++) {
        int row = probe * 37 % side, column = probe * 101 % side;
        double sum = 0;
        for (int k = 0; k < side; k++) sum += (double)a[row * side + k] * b[k * side + column];
        right = right && std::fabs(sum - c[row * side + column]) < 1e-2 * (1 + std::fabs(sum));
    }
    for (CUdeviceptr p : {da, db, dc}) CHECK(cuMemFree(p));
    return finish("matmul", s, right);
}
