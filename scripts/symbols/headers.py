"""Reads NVIDIA's driver headers: every declared function with its C types, every version in the typedef headers,
every error code. Knows the headers' preprocessor switches; knows nothing of our table."""

import pathlib
import re
import subprocess

# The interface headers, and the typedef headers that say since when each version exists.
INTERFACE = ["cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"]
TYPEDEFS = ["cudaTypedefs.h", "cudaGLTypedefs.h", "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h", "cudaProfilerTypedefs.h"]
# Each switch shows other declarations: the newest versions, the per-thread twins, the superseded versions.
SWITCHES = [[], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"], ["-D__CUDA_API_VERSION_INTERNAL"]]

# The graphics headers include other libraries' headers; only these names of theirs are used.
STUBS = {
    "GL/gl.h": "typedef unsigned int GLenum; typedef unsigned int GLuint;",
    "EGL/egl.h": "typedef void *EGLImageKHR; typedef void *EGLStreamKHR; typedef void *EGLSyncKHR; typedef int EGLint;",
    "EGL/eglext.h": "",
    "vdpau/vdpau.h": "typedef unsigned int VdpDevice; typedef int VdpGetProcAddress(unsigned int, unsigned int, void **);"
    "typedef unsigned int VdpVideoSurface; typedef unsigned int VdpOutputSurface;",
}

RUST = {
    "void": "c_void",
    "char": "c_char",
    "int": "c_int",
    "unsigned": "c_uint",
    "unsigned int": "c_uint",
    "unsigned char": "c_uchar",
    "unsigned short": "c_ushort",
    "unsigned long long": "c_ulonglong",
    "float": "f32",
    "size_t": "usize",
}

ATTRIBUTE = r"(?:__attribute__\s*\(\(\w+\)\)\s*)?"
PROTOTYPE = re.compile(
    rf"(?:^|[;}}])\s*{ATTRIBUTE}(?:extern\s+)?(\w[\w ]*?\**)\s*{ATTRIBUTE}(cu[A-Z]\w*)\s*\(([^;{{}}]*)\)"
    r"\s*(?:__attribute__\s*\(\([^)]*\)\)\s*)?(?=;)"
)
POINTER_TYPEDEF = re.compile(
    r"typedef\s+CUresult\s*\(\s*\*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)\s*\(([^;]*)\);"
)


def split_name(name):
    """cuMemcpyHtoD_v2_ptds -> (cuMemcpyHtoD, 2, _ptds)."""
    match = re.match(r"^(cu\w+?)(?:_v(\d+))?(_ptds|_ptsz)?$", name)
    return match.group(1), int(match.group(2) or 1), match.group(3) or ""


def rust_type(c_type):
    """The Rust spelling that the table must use for a C type."""
    words, stars = c_type.split("*")[0].split(), c_type.count("*")
    base = " ".join(word for word in words if word != "const")
    rust = RUST.get(base, base)
    for level in range(stars):
        rust = ("*const " if "const" in words and level == 0 else "*mut ") + rust
    return rust


def argument_types(arguments):
    """The C types of an argument list, in order, without names; an array is the pointer that it decays to."""
    text = re.sub(r"\s+", " ", arguments.strip())
    if text in ("", "void"):
        return []
    types = []
    for argument in text.split(","):
        argument = re.sub(r"(\w+)\s*\[\s*\w*\s*\]$", r"*\1", argument.strip())
        match = re.match(r"^(.*[\s*])(\w+)$", argument)
        named = match and match.group(2) not in ("int", "char", "long")
        types.append(re.sub(r"\s*\*\s*", "*", match.group(1) if named else argument).strip())
    return types


class Headers:
    """The headers in one folder."""

    def __init__(self, folder, stubs):
        self.folder, self.stubs = pathlib.Path(folder), pathlib.Path(stubs)
        for name, text in STUBS.items():
            (self.stubs / name).parent.mkdir(parents=True, exist_ok=True)
            (self.stubs / name).write_text(text + "\n")
        self.version = int(re.search(r"#define CUDA_VERSION (\d+)", self.text("cuda.h")).group(1))

    def text(self, name):
        return (self.folder / name).read_text(errors="replace")

    def preprocess(self, names, switch):
        source = "".join(f"#include <{name}>\n" for name in names)
        command = ["gcc", "-E", "-P", "-xc", f"-I{self.folder}", f"-I{self.stubs}", *switch, "-"]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout

    def functions(self):
        """{exported name: [Rust types]} over all switches; fails on a function that returns no CUresult."""
        found = {}
        for switch in SWITCHES:
            for result, name, arguments in PROTOTYPE.findall(self.preprocess(INTERFACE, switch)):
                if result.strip() == "return":
                    continue  # a call in the body of an inline function
                if result.strip() != "CUresult":
                    raise ValueError(f"{name} returns {result}: the table knows only CUresult")
                found[name] = [rust_type(c_type) for c_type in argument_types(arguments)]
        return found

    def mentioned(self):
        """Every name that stands in a declaration of the raw text, whatever the preprocessor makes of it."""
        return {
            name
            for header in INTERFACE
            for name in re.findall(r"CUresult\s+(?:CUDAAPI\s+)?(cu[A-Z]\w*)\s*\(", self.text(header))
        }

    def versions(self):
        """{(base, suffix): {version: [Rust types]}} of the typedef headers."""
        found = {}
        for switch in (SWITCHES[0], SWITCHES[2]):
            for base, version, suffix, arguments in POINTER_TYPEDEF.findall(self.preprocess(TYPEDEFS, switch)):
                types = [rust_type(c_type) for c_type in argument_types(arguments)]
                found.setdefault((base, suffix), {})[int(version)] = types
        return found

    def results(self):
        """{CUDA_ERROR_…: code}."""
        body = re.search(r"typedef enum cudaError_enum \{(.*?)\} CUresult;", self.text("cuda.h"), re.S).group(1)
        plain = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        return {name: int(code, 0) for name, code in re.findall(r"(\w+)\s*=\s*(\w+)", plain)}
