"""Forbidden contents of files: too many lines, marks of unfinished work, sleeps, output without the logger, broken links."""
import pathlib
import re

from source_tree import CPP, FORTRAN, Problem, files, numbered_lines

LONGEST_FILE = 350  # Lines.

# Written so that this file does not match itself.
_UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
_SLEEP = re.compile(r"\b(?:sleep_" + r"for|sleep_" + r"until|u" + r"sleep|nano" + r"sleep)\b")
# Functions that write to standard output or standard error. snprintf and similar ones do not.
_OUTPUT = re.compile(r"\b(?:stdout|stderr|STD(?:OUT|ERR)_FILENO|cout|cerr|clog|v?f?printf|puts|putchar|perror|psignal)\b")
# The logger.
_OUTPUT_ALLOWED = ("lapse/core/log.cpp",)
# Polls what other processes change without a ring.
_MAY_SLEEP = "lapse/core/process/sleep_between_polls.hpp"
# Makes a thread: std::thread(f), std::thread{f}, std::thread name(f), emplace_back of a vector of threads.
_THREAD = re.compile(r"\bstd::j?thread\b(?:\s+\w+)?\s*[({]\s*[^\s)}]|\bthreads?_(?:\.emplace_back)?\(\s*[\[&]|pthread_create\(")
# A function of Fortran, up to the declaration of its result.
_SHARED_LENGTH = re.compile(r"\bfunction (\w+)[^\n]*\bresult\((\w+)\)(?:(?!end function)[^\0])*?"
                            r"character\(:[^)]*\), allocatable :: \2\b")
# Names the thread and blocks signals.
_MAY_MAKE_THREADS = "lapse/core/process/library_thread.hpp"
# Words of a CMake list, and what stands for a part of a word.
_NAME = re.compile(r"(?:[\w.+-]|\$\{\w+\})+")
_VARIABLE = re.compile(r"\$\{\w+\}")
# Programs of users, which a script builds.
_BUILT_BY_USERS = "test/install/"
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


def check_file_length(root):
    """No C, C++ or Fortran file is longer than LONGEST_FILE lines."""
    for path in files(root, (*CPP, *FORTRAN)):
        lines = sum(1 for _ in numbered_lines(root, path))
        if lines > LONGEST_FILE:
            yield Problem(path, 0, f"has {lines} lines: at most {LONGEST_FILE} are allowed, split it")


def check_sources(root):
    """A CMake list names each source, by its whole name or without the ending; a variable may be a part of the name."""
    named = set()
    for path in files(root, (".cmake", "CMakeLists.txt")):
        named.update(_NAME.findall("\n".join(text for _, text in numbered_lines(root, path))))
    patterns = [re.compile(r"[^.]+".join(map(re.escape, _VARIABLE.split(name))))
                for name in named if _VARIABLE.search(name) and len(_VARIABLE.sub("", name)) > 4]
    for path in files(root, tuple(ending for ending in (*CPP, *FORTRAN) if ending not in (".hpp", ".h", ".inc"))):
        name = pathlib.PurePosixPath(path)
        if path.startswith(_BUILT_BY_USERS) or {name.name, name.stem} & named:
            continue
        if not any(pattern.fullmatch(part) for pattern in patterns for part in (name.name, name.stem)):
            yield Problem(path, 0, "no CMake list names it: it is not built")


def check_unfinished(root):
    """No marks of unfinished work."""
    for path in files(root, (*CPP, *FORTRAN, ".py", ".sh", ".md", ".cmake", "CMakeLists.txt")):
        for number, line in numbered_lines(root, path):
            match = _UNFINISHED.search(line)
            if match:
                yield Problem(path, number, f"{match[0]}: finish it or describe the limit")


def check_sleeps(root):
    """Code waits for conditions and does not sleep, except in one function of the library."""
    for path in files(root, CPP):
        if path == _MAY_SLEEP:
            continue
        for number, line in numbered_lines(root, path):
            match = _SLEEP.search(line)
            if match:
                yield Problem(path, number, f"{match[0]}: wait for a condition instead")


def check_threads(root):
    """The library and the applications make their threads with one function."""
    for path in files(root, CPP):
        if not path.startswith(("lapse/", "adapm/", "apps/")) or path == _MAY_MAKE_THREADS:
            continue
        for number, line in numbered_lines(root, path):
            match = _THREAD.search(line.split("//")[0])
            if match:
                yield Problem(path, number, f"{match[0]}: make it by start_library_thread, or start_application_thread")
    for path in files(root, (".f90",)):
        if not path.startswith("lapse/"):
            continue
        text = (root / path).read_text(encoding="utf-8")
        for match in _SHARED_LENGTH.finditer(text):
            yield Problem(path, text.count("\n", 0, match.start()) + 1,
                          f"{match[1]}: a result of deferred length, which gfortran keeps in memory that threads share")


def check_output(root):
    """The library writes to standard output and standard error only with its logger."""
    for path in files(root, CPP):
        if not path.startswith("lapse/") or path in _OUTPUT_ALLOWED:
            continue
        for number, line in numbered_lines(root, path):
            match = _OUTPUT.search(line.split("//")[0])
            if match:
                yield Problem(path, number, f"{match[0]}: use the logger, or log_error of lapse/core/log.hpp")


def check_links(root):
    """Every relative link in a document leads to a file or folder."""
    documents = [path for path in files(root, (".md",)) if "/" not in path or path.startswith(("docs/", "examples/"))]
    for path in documents:
        in_code = False
        for number, line in numbered_lines(root, path):
            if line.lstrip().startswith("```"):
                in_code = not in_code
            if in_code:
                continue
            for target in _LINK.findall(line):
                name = target.split("#")[0]
                if not name or re.match(r"[a-z]+:", name):
                    continue
                if not ((root / path).parent / name).exists():
                    yield Problem(path, number, f"link to {target}, which does not exist")
