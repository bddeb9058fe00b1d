"""cuda-bindings, driver half: PTX text loaded and launched through NVIDIA's own Python bindings."""

from cuda.bindings import driver

import common

PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry spin_{us}us(.param .u64 out)
{{
    .reg .u32 %i, %n;
    .reg .pred %p;
    mov.u32 %n, {us};
    mov.u32 %i, 0;
again:
    nanosleep.u32 1000;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra again;
    ret;
}}
"""


class DriverError(Exception):
    def __init__(self, code):
        super().__init__(code.name)
        self.code = code


def check(answer):
    code, *values = answer
    if code != driver.CUresult.CUDA_SUCCESS:
        raise DriverError(code)
    return values[0] if values else None


def main():
    us = common.options().kernel_us
    check(driver.cuInit(0))
    device = check(driver.cuDeviceGet(0))
    context = check(driver.cuDevicePrimaryCtxRetain(device))
    check(driver.cuCtxSetCurrent(context))
    module = check(driver.cuModuleLoadData(PTX.format(us=us).encode() + b"\0"))
    function = check(driver.cuModuleGetFunction(module, f"spin_{us}us".encode()))
    out = check(driver.cuMemAlloc(4096))
    stream = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    arguments = ((out,), (None,))
    common.run(
        "cuda-bindings",
        launch=lambda: check(driver.cuLaunchKernel(function, 108, 1, 1, 128, 1, 1, 0, stream, arguments, 0)),
        wait=lambda: check(driver.cuStreamSynchronize(stream)),
        allocate=lambda: check(driver.cuMemAlloc(common.BLOCK)),
        name_of=lambda refusal: refusal.code.name if isinstance(refusal, DriverError) else type(refusal).__name__,
    )
    check(driver.cuMemFree(out))
    check(driver.cuDevicePrimaryCtxRelease(device))


if __name__ == "__main__":
    main()
