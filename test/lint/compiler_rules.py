"""Checks by compiler and formatter. Each rule runs one tool on every file, two at a time."""
import collections
import concurrent.futures
import functools
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from include_rules import closure, includes_of
from source_tree import CPP, Problem, files

PARALLEL = 2
FORMAT_VERSION = "14"  # versions of clang-format differ in details


class Skipped(Exception):
    """A tool is missing; the message names it."""


def _run_all(commands):
    """Maps each path to the output of its command, for the commands that fail."""

    def run(item):
        path, command = item
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return path, result.returncode, result.stdout + result.stderr

    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as executor:
        return {path: output for path, code, output in executor.map(run, commands.items()) if code != 0}


def _fingerprint(root, path, command):
    """Of everything in the project that decides whether a header compiles."""
    digest = hashlib.sha256(repr(command).encode())
    for part in closure(root, path):
        digest.update((root / part).read_bytes())
    return digest.hexdigest()


def _run_unless_known(root, commands, cache, options_of=None, run=_run_all):
    """As _run_all, with options that change no result added to each command: options_of maps a list of paths to the
    options of each. `cache`: file that remembers what did not fail, so that it is not run again before it changes. `run`: in
    place of _run_all."""
    fingerprints = {path: _fingerprint(root, path, command) for path, command in commands.items()}
    known = set(json.loads(cache.read_text())) if cache and cache.is_file() else set()
    unknown = [path for path in commands if fingerprints[path] not in known]
    options = options_of(unknown) if options_of else {}
    failures = run({path: [*commands[path], *options.get(path, ())] for path in unknown})
    if cache:
        cache.write_text(json.dumps([mark for path, mark in fingerprints.items() if path not in failures]))
    return failures


_SLOW = {"CLI/CLI.hpp": 30, "nlohmann/json.hpp": 30, "catch2/catch.hpp": 30, "fmt/format.h": 12, "mpi.h": 5, "functional": 10,
         "chrono": 10, "memory": 10, "string": 8, "regex": 20, "filesystem": 12, "random": 12, "thread": 10, "map": 4, "vector": 4}
_MAX_PRECOMPILED = 12
_MAX_COMBINED = 40  # sets of headers that are compared pairwise


@functools.lru_cache(maxsize=None)
def _seconds(headers):
    """An estimate, in arbitrary units, of how long a compiler takes for these headers."""
    return sum(_SLOW.get(header, 2) for header in headers)


def _shared_headers(used):
    """By path: the headers that it shares with other paths, so that they are compiled once for all. `used`: all headers of
    each path. Only headers that a path includes are chosen for it: it compiles with them like without."""
    users = collections.Counter(used.values())
    common = sorted(users, key=lambda headers: (-users[headers] * _seconds(headers), sorted(headers)))[:_MAX_COMBINED]
    candidates = sorted({*users, *(one & other for one in common for other in common)}, key=sorted)
    seconds = {headers: _seconds(headers) for headers in candidates}
    chosen = {headers: frozenset() for headers in users}

    def gain(candidate):
        saved = sum(users[headers] * max(0, seconds[candidate] - _seconds(chosen[headers]))
                    for headers in users if candidate <= headers)
        return saved - seconds[candidate] - 10  # to compile it and write the file

    for _ in range(_MAX_PRECOMPILED):
        best = max(candidates, key=gain, default=None)
        if best is None or gain(best) <= 0:
            break
        for headers in users:
            if best <= headers and seconds[best] > _seconds(chosen[headers]):
                chosen[headers] = best
    return {path: chosen[headers] for path, headers in used.items()}


# Standard headers that precompiled headers bring into every source, and the names that they declare. A name
# that several headers declare is listed with each.
_PRECOMPILED = {
    "algorithm": "min max clamp copy copy_n fill fill_n find find_if sort stable_sort lower_bound upper_bound all_of any_of none_of count "
                 "count_if equal reverse remove_if remove unique transform max_element min_element swap_ranges generate shuffle ranges",
    "array": "array to_array", "atomic": "atomic atomic_ref atomic_thread_fence memory_order memory_order_acquire memory_order_acq_rel "
    "memory_order_relaxed memory_order_release memory_order_seq_cst atomic_flag",
    "chrono": "chrono", "cstddef": "size_t byte ptrdiff_t max_align_t nullptr_t",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t intptr_t",
    "cstring": "memcpy memset memcmp memmove strlen strcmp strerror", "functional": "function hash less greater reference_wrapper ref cref invoke equal_to",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this addressof construct_at destroy_at",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once adopt_lock defer_lock recursive_mutex",
    "optional": "optional nullopt make_optional", "span": "span as_bytes as_writable_bytes",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range length_error domain_error overflow_error",
    "string": "string to_string stoi stol stoull getline", "string_view": "string_view", "thread": "thread this_thread jthread",
    "unordered_map": "unordered_map", "utility": "move forward pair exchange swap as_const declval make_pair in_place",
    "vector": "vector",
}
# Headers that also declare the names of others, by the standard.
_PROVIDES = {"string": ["string_view"], "functional": [], "memory": [], "unordered_map": ["utility"], "cstring": [], "thread": [],
             "vector": [], "algorithm": ["utility"], "map": ["utility"], "optional": ["utility"], "variant": ["utility"], "tuple": ["utility"]}
_STANDARD_NAME = re.compile(r"\bstd::(\w+)")
# The header of each name. Other standard headers need no check: precompiled headers do not supply them.
_HEADERS_OF = {name: header for header, names in _PRECOMPILED.items() for name in names.split()}


def _is_first_of_its_source(root, path):
    """A source of the same name includes the header before anything else, so its compilation shows that the header needs
    nothing before it, except what precompiled headers declare."""
    source = path.rsplit(".", 1)[0] + ".cpp"
    if not path.startswith(("lapse/", "adapm/", "apps/")) or not (root / source).is_file():
        return False
    includes = includes_of(root, source)
    return bool(includes) and includes[0][2] == path


def _lacks_precompiled(root, path):
    """Names of a precompiled header that the header uses without including it, directly or not."""
    there = {name for part in closure(root, path) for _, bracket, name in includes_of(root, part) if bracket == "<"}
    there |= {name for header in tuple(there) for name in _PROVIDES.get(header, [])}
    text = re.sub(r"//.*", "", (root / path).read_text(encoding="utf-8"))
    used = {_HEADERS_OF[name] for name in _STANDARD_NAME.findall(text) if name in _HEADERS_OF}
    if "fmt::" in text:
        used.add("fmt/format.h")
    return used - there


_HEADERS_AT_ONCE = 6
_SINGLE_HEADERS = 40  # So many are compiled one by one.


def _headers_by_includes(root, paths):
    """Parts of a few headers to compile together, each header behind those of its part that include less than it does. So it
    sees little that it does not include itself; what a part hides is found by who changes one of its headers."""
    ordered = sorted(paths, key=lambda path: (len(closure(root, path)), path))
    count = -(-len(ordered) // _HEADERS_AT_ONCE)
    return [ordered[first::count] for first in range(count)]


def check_headers(root, compiler="g++", include_folders=(), cache=None, without=()):
    """Every header compiles with its own includes, except in folders whose packages are missing. The build compiles a header
    that its own source includes first: it is checked here only if precompiled headers may hide a missing include."""
    # -w silences the warning about "pragma once" in a main file, and all others.
    flags = ["-std=c++20", "-fsyntax-only", "-w", "-x", "c++", f"-I{root}"]
    flags += [f"-isystem{folder}" for folder in include_folders]
    commands = {path: [compiler, *flags, str(root / path)] for path in files(root, (".hpp", ".h"))
                if not path.startswith(tuple(without)) and
                not (_is_first_of_its_source(root, path) and not _lacks_precompiled(root, path))}
    with tempfile.TemporaryDirectory() as folder:

        def precompiled(paths):
            used = {path: frozenset(name for part in closure(root, path) for _, bracket, name in includes_of(root, part)
                                    if bracket == "<" and not name.endswith(".ipp")) for path in paths}  # .ipp: no guards
            shared = _shared_headers(used)
            names = {headers: pathlib.Path(folder, f"shared{number}.hpp") for number, headers in enumerate(
                sorted(set(shared.values()), key=sorted)) if headers}
            for headers, name in names.items():
                name.write_text("".join(f"#include <{header}>\n" for header in sorted(headers)))
            failed = _run_all({headers: [compiler, *(flag for flag in flags if flag not in ("-fsyntax-only", "c++", "-x")), "-x",
                                         "c++-header", str(name), "-o", f"{name}.gch"] for headers, name in names.items()})
            return {path: ["-include", str(names[headers])] for path, headers in shared.items()
                    if headers and headers not in failed}

        def joined(commands):
            """A few together; singly only if some of them fail, or if a few are all."""
            if len(commands) <= _SINGLE_HEADERS:
                return _run_all(commands)
            together = {}
            alike = {}  # By the headers that are compiled once for them.
            for path in commands:
                alike.setdefault(commands[path][-1], []).append(path)
            parts = [part for paths in alike.values() for part in _headers_by_includes(root, paths)]
            for number, paths in enumerate(parts):
                source = pathlib.Path(folder, f"joined{number}.cpp")
                source.write_text("".join(f'#include "{root / path}"\n' for path in paths))
                together[number] = [str(source) if word == str(root / paths[0]) else word for word in commands[paths[0]]]
            failed = _run_all(together)
            return _run_all({path: commands[path] for number in failed for path in parts[number]})

        failures = _run_unless_known(root, commands, cache, precompiled, joined)
    for path, output in sorted(failures.items()):
        yield Problem(path, 0, "does not compile alone:\n" + "\n".join(output.splitlines()[:6]))


LOCK_ANNOTATIONS = "lapse/core/thread_annotations.hpp"
_JOINED = 8
_COMMON = 10  # A header of others that so many sources include is compiled once for all of them.
_CLANG_ERROR = re.compile(r"^(.+?):(\d+):\d+: (?:fatal )?error: (.*)$")


def _sources_with_locks(root):
    """The library's sources with lock annotations, and the headers that none of them includes."""
    sources = {path: closure(root, path) for path in files(root, (".cpp",), ("lapse",))}
    sources = {path: reached for path, reached in sources.items() if LOCK_ANNOTATIONS in reached}
    reached = {header for headers in sources.values() for header in headers}
    for header in files(root, (".hpp",), ("lapse",)):
        headers = closure(root, header)
        if header not in reached and LOCK_ANNOTATIONS in headers:
            sources[header] = headers
    return sources


def check_locks(root, include_folders=(), cache=None, without=()):
    """Members are accessed and functions called with the locks held that their annotations require."""
    compiler = shutil.which("clang++")
    if compiler is None:
        raise Skipped("clang++ is not installed: the annotations of locks are NOT checked")
    sources = {path: reached for path, reached in _sources_with_locks(root).items() if not path.startswith(tuple(without))}
    flags = ["-std=c++20", "-Wno-everything", "-Werror=thread-safety", f"-I{root}", "-DOMPI_SKIP_MPICXX"]
    flags += [f"-isystem{folder}" for folder in include_folders]
    commands = {path: [compiler, "-fsyntax-only", *flags, "-x", "c++", str(root / path)] for path in sources}
    used = collections.Counter(
        header for headers in sources.values()
        for header in {name for path in headers for _, bracket, name in includes_of(root, path)
                       if bracket == "<" and not name.endswith(".ipp")})  # .ipp: no guards
    common = sorted(header for header, users in used.items() if users >= _COMMON)
    with tempfile.TemporaryDirectory() as folder:
        header = pathlib.Path(folder, "common.hpp")
        header.write_text("".join(f"#include <{name}>\n" for name in common))
        precompiled = subprocess.run([compiler, *flags, "-x", "c++-header", str(header), "-o", f"{header}.pch"],
                                     capture_output=True, text=True, check=False)
        fast = ["-include-pch", f"{header}.pch"] if common and precompiled.returncode == 0 else []

        def joined(commands):
            """Checks a library's sources together, like in builds with a sanitizer; singly only if some of them fail together."""
            parts = {}
            for path in sorted(commands):
                parts.setdefault(path.rsplit("/", 1)[0] if path.endswith(".cpp") else path, []).append(path)
            parts = [paths[i:i + _JOINED] for paths in parts.values() for i in range(0, len(paths), _JOINED)]
            together = {}
            for number, paths in enumerate(parts):
                source = pathlib.Path(folder, f"joined{number}.cpp")
                source.write_text("".join(f'#include "{root / path}"\n' for path in paths))
                together[number] = [*commands[paths[0]][:-1 - len(fast)], str(source), *fast]
            failed = _run_all(together)
            return _run_all({path: commands[path] for number in failed for path in parts[number]})

        failures = _run_unless_known(root, commands, cache, lambda paths: dict.fromkeys(paths, fast), joined)
    found = set()
    for path, output in failures.items():
        errors = [match.groups() for match in map(_CLANG_ERROR.match, output.splitlines()) if match]
        found |= {(place.removeprefix(f"{root}/"), int(line), text) for place, line, text in errors}
        if not errors:
            found.add((path, 0, "clang fails:\n" + "\n".join(output.splitlines()[:6])))
    for place, line, text in sorted(found):
        yield Problem(place, line, text)


_FORMATTED_AT_ONCE = 50


def check_format(root):
    """clang-format would change nothing."""
    tool = shutil.which(f"clang-format-{FORMAT_VERSION}") or shutil.which("clang-format")
    if tool is None:
        raise Skipped("clang-format is not installed: the format of the sources is NOT checked")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"version (\d+)", version)
    if match is None or match[1] != FORMAT_VERSION:
        raise Skipped(f"{version.strip()}: version {FORMAT_VERSION} is needed, the format is NOT checked")
    paths = sorted(files(root, CPP))
    parts = [paths[i:i + _FORMATTED_AT_ONCE] for i in range(0, len(paths), _FORMATTED_AT_ONCE)]
    command = [tool, "--dry-run", "-Werror"]
    failures = _run_all({number: [*command, *(str(root / path) for path in part)] for number, part in enumerate(parts)})
    suspects = [path for number in failures for path in parts[number]]
    for path, output in sorted(_run_all({path: [*command, str(root / path)] for path in suspects}).items()):
        yield Problem(path, 0, "is not formatted: run clang-format -i on it\n" + "\n".join(output.splitlines()[:3]))
