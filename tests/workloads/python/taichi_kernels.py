"""Taichi: its own compiler, its own loader (a module that binds `dlsym` with RTLD_DEEPBIND), a kernel in a loop."""

import importlib.util
import os
import tempfile

# Its banner would come before our own lines.
os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
os.environ.setdefault("TI_LOG_LEVEL", "error")
# It would ask its makers' server whether there is a newer one, and write down the answer at home.
os.environ["TI_SKIP_VERSION_CHECK"] = "ON"

import taichi as ti

import common

SOURCE = """
@ti.kernel
def spin_{us}us(out: ti.types.ndarray()):
    for i in out:
        out[i] = ti.sin(ti.cast(i, ti.f32))
"""


def kernel(us, folder):
    """Taichi reads a kernel's source from its file, so the file is written first."""
    path = os.path.join(folder, "generated.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write("import taichi as ti\n" + SOURCE.format(us=us))
    spec = importlib.util.spec_from_file_location("generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, f"spin_{us}us")


def main():
    us = common.options().kernel_us
    with tempfile.TemporaryDirectory() as folder:
        # It makes the folder of its cache even for none, at home if it may choose.
        ti.init(
            arch=ti.cuda,
            device_memory_GB=0.25,
            offline_cache=False,
            offline_cache_file_path=os.path.join(folder, "cache"),
            log_level=ti.ERROR,
            verbose=False,
        )
        spin = kernel(us, folder)
        out = ti.ndarray(ti.f32, shape=108 * 128)
        common.run(
            "taichi",
            launch=lambda: spin(out),
            wait=ti.sync,
            allocate=lambda: ti.ndarray(ti.u8, shape=common.BLOCK),
        )
        # Else it makes the folder again when the process ends.
        ti.reset()


if __name__ == "__main__":
    main()
