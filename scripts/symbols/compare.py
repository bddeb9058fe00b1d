"""Compares the dump of our table with the headers and with real drivers. Prints counts; exit status 1 on a difference.

compare.py DUMP --headers FOLDER… --stubs FOLDER [--driver LIBRARY…] [--self-test]
"""

import argparse
import copy
import json
import pathlib
import subprocess
import sys

import layout
from headers import Headers, split_name


class Dump:
    """What `cargo run -p mgpu-cuda --example dump_table` printed."""

    def __init__(self, text):
        kinds = {}
        for line in text.splitlines():
            kind, *rest = line.split("\t")
            kinds.setdefault(kind, []).append(rest)
        self.families = {name: (class_, status, words) for name, class_, status, words in kinds["family"]}
        self.variants = [
            (family, name, int(since), None if twin == "-" else twin, int(twin_since), types.split(", ") if types else [])
            for family, name, since, twin, twin_since, types in kinds["variant"]
        ]
        self.answers = {(name, int(per_thread), int(version)): said for name, per_thread, version, said in kinds["answer"]}
        self.results = {name: int(code) for name, code in kinds["result"]}
        self.constants, self.layouts, self.fields = kinds["constant"], kinds["layout"], kinds["field"]
        self.not_in_table = [name for name, in kinds["not-in-table"]]
        self.tegra_only = {name for name, in kinds["tegra-only"]}

    def exports(self):
        """{exported name: (family, since, twin's plain name or None, types)}."""
        found = {}
        for family, name, since, twin, twin_since, types in self.variants:
            found[name] = (family, since, None, types)
            if twin:
                found[twin] = (family, twin_since, name, types)
        return found

    def excused(self, name):
        return any(name == rule or (rule.endswith("*") and name.startswith(rule[:-1])) for rule in self.not_in_table)


class Declared:
    """What all headers together declare; where two differ, the newer one counts."""

    def __init__(self, headers_list):
        self.functions, self.mentioned, self.versions, self.results = {}, set(), {}, {}
        for headers in sorted(headers_list, key=lambda headers: headers.version):
            self.functions.update(headers.functions())
            self.mentioned |= headers.mentioned()
            for key, versions in headers.versions().items():
                self.versions.setdefault(key, {}).update(versions)
            self.results.update(headers.results())


def names_check(dump, declared):
    """Every declared name has a row and every row is declared."""
    rows = dump.exports()
    failures = [f"{name}: declared by a header, undecided here" for name in sorted(set(declared.functions) - set(rows))]
    failures += [f"{name}: has a row, but no header declares it" for name in sorted(set(rows) - set(declared.functions))]
    for name in sorted(declared.mentioned - set(declared.functions)):
        if not dump.excused(name):
            failures.append(f"{name}: mentioned by a header, undecided here")
    for name in sorted(set(declared.functions)):
        if dump.excused(name):
            failures.append(f"{name}: said to have no row, but a header declares it")
    return len(declared.functions), failures


def twins_check(dump, declared):
    """A twin stands with its own plain function, and every declared twin is one."""
    rows, failures, count = dump.exports(), [], 0
    for name in sorted(declared.functions):
        base, version, suffix = split_name(name)
        if not suffix or name not in rows:
            continue
        count += 1
        plain = base + (f"_v{version}" if version > 1 else "")
        if rows[name][2] != plain:
            failures.append(f"{name}: twin of {rows[name][2]} here, of {plain} by its name")
    for name, (_, _, plain, _) in sorted(rows.items()):
        if plain and split_name(name)[2] == "":
            failures.append(f"{name}: called a twin here, but its name is none")
    return count, failures


def versions_check(dump, declared):
    """Each family's versions are those of the typedef headers, oldest ABI first."""
    ours, failures = {}, []
    for name, (_, since, _, types) in dump.exports().items():
        base, version, suffix = split_name(name)
        ours.setdefault((base, suffix), []).append((version, since, name, types))
    for key in sorted(set(ours) | set(declared.versions)):
        rows = sorted(ours.get(key, []))
        theirs = sorted(declared.versions.get(key, {}).items())
        if [since for _, since, _, _ in rows] != [since for since, _ in theirs]:
            failures.append(f"{key[0]}{key[1]}: since {[row[1] for row in rows]} here, {[row[0] for row in theirs]} there")
            continue
        for (_, _, name, types), (since, typedef) in zip(rows, theirs):
            if list(map(unversioned, types)) != list(map(unversioned, typedef)):
                failures.append(f"{name}: {types} here, {typedef} in the typedef of {since}")
    return sum(map(len, declared.versions.values())), failures


def unversioned(rust_type):
    """The typedef headers spell some types with their version."""
    words = rust_type.split()
    words[-1] = words[-1].split("_v")[0]
    return " ".join(words)


def signatures_check(dump, declared):
    rows, failures, count = dump.exports(), [], 0
    for name, types in sorted(declared.functions.items()):
        if name in rows:
            count += 1
            if rows[name][3] != types:
                failures.append(f"{name}: ({', '.join(rows[name][3])}) here, ({', '.join(types)}) in the header")
    by_value = {kind for _, _, _, types in rows.values() for kind in types if not kind.startswith("*")}
    scalars = {"c_int", "c_uint", "c_uchar", "c_ushort", "c_ulonglong", "f32", "usize"}
    callbacks = {kind for kind in by_value if kind.endswith(("Callback", "Fn", "B2DSize"))}
    aliases = {"CUresult", "CUstreamAttrID", "CUkernelNodeAttrID", "EGLImageKHR", "EGLStreamKHR", "EGLSyncKHR"}
    for kind in sorted(by_value - scalars - callbacks - aliases - {entry[0] for entry in dump.layouts}):
        failures.append(f"{kind}: passed by value, but its size is compared with nothing")
    return count, failures


def results_check(dump, declared):
    failures = []
    for name in sorted(set(declared.results) | set(dump.results)):
        ours, theirs = dump.results.get(name), declared.results.get(name)
        if ours != theirs:
            failures.append(f"{name}: {ours} here, {theirs} in the header")
    return len(declared.results), failures


def ask_driver(library, dump):
    """What a real driver exports and answers, for every name, version and flag."""
    lines = [f"{n} {v} {flags}\n" for n, p, v in sorted(dump.answers) for flags in ((2, 3) if p else (0, 1))]
    lines += [f"{name} 12000 {flags}\n" for name in dump.not_in_table if "*" not in name for flags in (0, 2)]
    script = pathlib.Path(__file__).with_name("driver.py")
    asked = subprocess.run([sys.executable, script, library], input="".join(lines), capture_output=True, text=True)
    if asked.returncode != 0:
        raise RuntimeError(f"{library} could not be asked: {asked.stderr.strip()[-500:]}")
    return json.loads(asked.stdout)


def exports_check(dump, driver):
    """Every export has a row or a mention; every row of the driver's age is exported."""
    rows, failures = dump.exports(), []
    for name in driver["exports"]:
        if name not in rows and not dump.excused(name):
            failures.append(f"{name}: exported by the real driver, undecided here")
    for name, (_, since, _, _) in sorted(rows.items()):
        missing = since <= driver["version"] and name not in driver["exports"]
        if missing != (name in dump.tegra_only):
            state = "not exported" if missing else "exported"
            failures.append(f"{name}: since {since} here, {state} by the real driver {driver['version']}")
    return len(driver["exports"]), failures


def resolution_check(dump, driver):
    """cuGetProcAddress means what `mgpu_cuda::resolution` says; above its own version a driver answers as at it."""
    failures, versions = [], sorted({version for _, _, version in dump.answers})
    newest = max(version for version in versions if version <= driver["version"])
    for name, wanted, flags, code, status, found, code_v1, found_v1 in driver["answers"]:
        per_thread, version = int(flags & 2 != 0), min(wanted, newest) if wanted > driver["version"] else wanted
        said = dump.answers.get((name, per_thread, version)) or dump.answers.get((name, 0, wanted), "unknown")
        if name in dump.tegra_only or (said == "too-old" and not exists_by(dump, name, driver["version"])):
            said = "unknown"
        expected = {"unknown": (0, 1, 500), "too-old": (0, 2, 500)}.get(said, (0, 0, 0))
        right = (code, status, code_v1) == expected and found == found_v1
        right = right and (said in found if expected[1] == 0 else not found)
        if not right:
            failures.append(f"{name} at {wanted} flags {flags}: {said} here, {found or status} by the driver")
    return len(driver["answers"]), failures


def exists_by(dump, family, version):
    return any(row[0] == family and row[2] <= version for row in dump.variants)


def checks(dump, declared, headers_list, drivers):
    """Every check: (title, function that gives a count and the failures)."""
    yield "names declared by the headers", lambda: names_check(dump, declared)
    yield "per-thread twins", lambda: twins_check(dump, declared)
    yield "versions of the typedef headers", lambda: versions_check(dump, declared)
    yield "signatures", lambda: signatures_check(dump, declared)
    yield "result codes", lambda: results_check(dump, declared)
    yield "sizes, offsets and constants by the C compiler", lambda: layout.check(dump, headers_list)
    for driver in drivers:
        yield f"exports of the real driver {driver['version']}", lambda: exports_check(dump, driver)
        yield f"cuGetProcAddress answers of {driver['version']}", lambda: resolution_check(dump, driver)


def self_test(text, declared, headers_list, drivers):
    """Breaks a copy of the dump in one way after another; each must be found by its check."""
    broken = [
        ("names declared", lambda d: d.variants.pop(0)),
        ("names declared", lambda d: d.variants.append(("cuBogus", "cuBogus", 1000, None, 0, []))),
        ("names declared", lambda d: d.not_in_table.remove("cuWGLGetDevice")),
        ("per-thread", lambda d: (replace(d, "cuMemFreeAsync", 3, None), replace(d, "cuInit", 3, "cuMemFreeAsync_ptsz"))),
        ("versions", lambda d: replace(d, "cuMemAlloc_v2", 2, 4000)),
        ("signatures", lambda d: replace(d, "cuMemAlloc_v2", 5, ["*mut CUdeviceptr", "c_uint"])),
        ("signatures", lambda d: replace(d, "cuMemFree_v2", 5, [])),
        ("result codes", lambda d: d.results.update(CUDA_ERROR_OUT_OF_MEMORY=3)),
        ("sizes", lambda d: d.fields.__setitem__(5, [*d.fields[5][:2], "4711"])),
        ("sizes", lambda d: d.constants.append(["CU_STREAM_NON_BLOCKING", "7"])),
    ]
    if drivers:
        broken += [
            ("exports", lambda d: d.not_in_table.remove("cuMemGetAttribute")),
            ("exports", lambda d: d.tegra_only.clear()),
            ("cuGetProcAddress", lambda d: d.answers.__setitem__(("cuMemAlloc", 0, 12000), "cuMemAlloc")),
            ("cuGetProcAddress", lambda d: d.answers.__setitem__(("cuLaunchKernel", 1, 12000), "cuLaunchKernel")),
        ]
    whole, missed = Dump(text), 0
    for title, fault in broken:
        dump = copy.deepcopy(whole)
        fault(dump)
        every = checks(dump, declared, headers_list, drivers)
        found = any(check()[1] for name, check in every if name.startswith(title))
        if not found:
            print(f"self-test: a fault planted for '{title}' was not found")
        missed += not found
    print(f"self-test: {len(broken)} faults planted, {len(broken) - missed} found")
    return missed


def replace(dump, name, index, value):
    at = next(at for at, row in enumerate(dump.variants) if row[1] == name)
    row = list(dump.variants[at])
    row[index] = value
    dump.variants[at] = tuple(row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump")
    parser.add_argument("--headers", nargs="+", required=True)
    parser.add_argument("--stubs", required=True)
    parser.add_argument("--driver", nargs="*", default=[])
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    text = pathlib.Path(options.dump).read_text()
    dump = Dump(text)
    headers_list = [Headers(folder, options.stubs) for folder in options.headers]
    declared = Declared(headers_list)
    drivers = [ask_driver(library, dump) for library in options.driver]
    if options.self_test:
        sys.exit(self_test(text, declared, headers_list, drivers) != 0)
    print(f"headers: {', '.join(str(headers.version) for headers in headers_list)}")
    print(f"table: {len(dump.families)} families, {len(dump.exports())} names")
    failed = 0
    for title, check in checks(dump, declared, headers_list, drivers):
        count, failures = check()
        failed += len(failures)
        print(f"{'FAILED' if failures else 'ok':6} {count:6} {title}")
        for failure in failures[:40]:
            print(f"         {failure}")
        if len(failures) > 40:
            print(f"         and {len(failures) - 40} more")
    sys.exit(failed != 0)


main()
