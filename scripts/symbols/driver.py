"""Loads one real libcuda.so.1 (no GPU needed) and prints as JSON what it exports and what its cuGetProcAddress answers.
Runs in a process of its own: driver.py LIBRARY < questions, one `name version flags` a line."""

import ctypes
import json
import subprocess
import sys


def main():
    path = sys.argv[1]
    listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    exports = sorted({line.split()[-1].split("@")[0] for line in listing.splitlines() if " cu" in line})
    library = ctypes.CDLL(path)
    names = {}
    for name in exports:
        if not name.startswith("cudbg"):
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            names.setdefault(address, []).append(name)
    version = ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))

    def ask(name, wanted, flags):
        pointer, status = ctypes.c_void_p(), ctypes.c_int(-1)
        code = library.cuGetProcAddress_v2(
            name.encode(), ctypes.byref(pointer), wanted, ctypes.c_uint64(flags), ctypes.byref(status)
        )
        return [code, status.value, names.get(pointer.value, ["an address that no export has"] if pointer.value else [])]

    def ask_v1(name, wanted, flags):
        pointer = ctypes.c_void_p()
        code = library.cuGetProcAddress(name.encode(), ctypes.byref(pointer), wanted, ctypes.c_uint64(flags))
        return [code, names.get(pointer.value, []) if code == 0 else []]

    answers = []
    for line in sys.stdin:
        name, wanted, flags = line.split()
        answers.append([name, int(wanted), int(flags), *ask(name, int(wanted), int(flags)), *ask_v1(name, int(wanted), int(flags))])
    json.dump({"version": version.value, "exports": exports, "answers": answers}, sys.stdout)


main()
