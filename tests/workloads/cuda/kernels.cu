// Device code of the sample programs and of the load generators. Compiled to one fatbin by scripts/lib/workloads.sh.
// The simulated GPU computes nothing; it takes the duration of `spin_<n>us` from the name.

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// c = a * b for square row-major matrices whose side is a multiple of 16; launch with 16 x 16 threads.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int side) {
    __shared__ float tile_a[16][16], tile_b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < side; t += 16) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * side + t + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * side + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads();
    }
    c[row * side + column] = sum;
}

extern "C" __global__ void scale(float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

__device__ static unsigned long long global_ns() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

// Keeps its block resident for the given time by the GPU's own clock.
#define SPIN(n)                                                    \
    extern "C" __global__ void spin_##n##us() {                    \
        unsigned long long start = global_ns();                    \
        while (global_ns() - start < n * 1000ull) {                \
        }                                                          \
    }
SPIN(1)
SPIN(10)
SPIN(20)
SPIN(50)
SPIN(100)
SPIN(200)
SPIN(500)
SPIN(1000)
SPIN(2000)
SPIN(5000)
SPIN(10000)
SPIN(50000)
SPIN(5000000)

extern "C" __global__ void empty() {}
