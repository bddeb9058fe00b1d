"""Asks a C compiler for sizes, alignments, offsets and constants of the real headers, and compares them with ours."""

import subprocess
import tempfile

# Rust fields that stand for an anonymous union of the header: any arm tells its offset.
ANONYMOUS = {("CUgraphNodeParams", "params"): "kernel", ("CUstreamMemOpValueParams", "value64"): "value64"}


def questions(dump):
    """[(what, C expression, our value)], one for each number that the dump states."""
    asked, c_types = [], {}
    for name, c_type, size, align in dump.layouts:
        c_types[name] = c_type
        if c_type:
            asked.append((f"size of {name}", f"sizeof({c_type})", int(size)))
            asked.append((f"alignment of {name}", f"_Alignof({c_type})", int(align)))
    for name, field, offset in dump.fields:
        if c_types[name]:
            path = ANONYMOUS.get((name, field), field.rstrip("_"))
            asked.append((f"offset of {name}.{field}", f"offsetof({c_types[name]}, {path})", int(offset)))
    for name, value in dump.constants:
        asked.append((name, name, int(value)))
    return asked


def answers(headers, expressions):
    """{expression: value} by the compiler; an expression that this header does not know is left out."""
    from headers import INTERFACE

    names = ["vdpau/vdpau.h", *INTERFACE]
    head = "#include <stdio.h>\n#include <stddef.h>\n#define __CUDA_API_VERSION_INTERNAL\n"
    head += "".join(f"#include <{name}>\n" for name in names) + "int main(void) {\n"
    first = head.count("\n") + 1
    known = list(expressions)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(8):
            lines = [f'printf("%llu\\n", (unsigned long long)({expression}));' for expression in known]
            source = head + "\n".join(lines) + "\nreturn 0; }\n"
            command = ["gcc", "-w", "-fmax-errors=0", "-xc", "-", f"-I{headers.folder}", f"-I{headers.stubs}"]
            built = subprocess.run([*command, "-o", f"{folder}/ask"], input=source, capture_output=True, text=True)
            if built.returncode == 0:
                printed = subprocess.run([f"{folder}/ask"], capture_output=True, text=True, check=True).stdout
                return dict(zip(known, map(int, printed.split())))
            bad = {int(part[1]) - first for part in (l.split(":") for l in built.stderr.splitlines()) if is_error(part)}
            if not bad or min(bad) < 0:
                raise RuntimeError(f"the headers in {headers.folder} do not compile:\n{built.stderr[:2000]}")
            known = [expression for index, expression in enumerate(known) if index not in bad]
    raise RuntimeError("the C compiler never accepted the questions")


def is_error(part):
    return len(part) > 3 and part[0] == "<stdin>" and part[1].isdigit() and part[3].strip() == "error"


def check(dump, headers_list):
    """Differences from any header that knows the type, and what no header knows. Reserved space shrinks as fields are
    added before it, so there the newest header alone counts."""
    asked, failures = questions(dump), []
    newest_first = sorted(headers_list, key=lambda headers: -headers.version)
    known = [answers(headers, [expression for _, expression, _ in asked]) for headers in newest_first]
    for what, expression, ours in asked:
        theirs = [values[expression] for values in known if expression in values]
        theirs = set(theirs[:1] if ".reserved" in what else theirs)
        if not theirs:
            failures.append(f"{what}: no header knows it")
        elif theirs != {ours}:
            failures.append(f"{what}: {ours} here, {sorted(theirs)} in the headers")
    return len(asked), failures
