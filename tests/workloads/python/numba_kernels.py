"""numba-cuda: a kernel of its own, compiled here, launched in a loop.

The kernel's name carries its duration for the simulated device (`spin_1000us`); a real one sleeps that long.
"""

import os

# A small grid is what is wanted here.
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")

import numpy as np
from numba import cuda

import common

SOURCE = """
def spin_{us}us(out):
    i = cuda.grid(1)
    for _ in range({us}):
        cuda.nanosleep(1000)
    if i < out.size:
        out[i] = i
"""


def kernel(us):
    scope = {"cuda": cuda}
    exec(SOURCE.format(us=us), scope)
    return cuda.jit(scope[f"spin_{us}us"])


def main():
    spin = kernel(common.options().kernel_us)
    out = cuda.to_device(np.zeros(128 * 108, dtype=np.float32))
    stream = cuda.stream()
    configured = spin[108, 128, stream]
    common.run(
        "numba-cuda",
        launch=lambda: configured(out),
        wait=stream.synchronize,
        allocate=lambda: cuda.device_array(common.BLOCK, dtype=np.uint8),
    )


if __name__ == "__main__":
    main()
