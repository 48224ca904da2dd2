"""What a compiler or formatter must say about the files. Each rule runs one tool on every file, two at a time."""
import concurrent.futures
import hashlib
import json
import re
import shutil
import subprocess

from include_rules import closure
from source_tree import CPP, Problem, files

PARALLEL = 2
FORMAT_VERSION = "14"  # Versions of clang-format disagree about details.


class Skipped(Exception):
    """The tool is missing; the text says which."""


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


def check_headers(root, compiler="g++", include_folders=(), cache=None):
    """Every header compiles alone. `cache`: file that remembers which did, so that they are not compiled again."""
    # A header as main file would warn about its own "pragma once"; -w silences that and everything that is no error.
    flags = ["-std=c++20", "-fsyntax-only", "-w", "-x", "c++", f"-I{root}"]
    flags += [f"-isystem{folder}" for folder in include_folders]
    commands = {path: [compiler, *flags, str(root / path)] for path in files(root, (".hpp", ".h"))}
    fingerprints = {path: _fingerprint(root, path, command) for path, command in commands.items()}
    known = set(json.loads(cache.read_text())) if cache and cache.is_file() else set()
    failures = _run_all({path: command for path, command in commands.items() if fingerprints[path] not in known})
    if cache:
        cache.write_text(json.dumps([mark for path, mark in fingerprints.items() if path not in failures]))
    for path, output in sorted(failures.items()):
        yield Problem(path, 0, "does not compile alone:\n" + "\n".join(output.splitlines()[:6]))


def check_format(root):
    """clang-format would change nothing."""
    tool = shutil.which(f"clang-format-{FORMAT_VERSION}") or shutil.which("clang-format")
    if tool is None:
        raise Skipped("clang-format is not installed: the format of the sources is NOT checked")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"version (\d+)", version)
    if match is None or match[1] != FORMAT_VERSION:
        raise Skipped(f"{version.strip()}: version {FORMAT_VERSION} is needed, the format is NOT checked")
    failures = _run_all({path: [tool, "--dry-run", "-Werror", str(root / path)] for path in files(root, CPP)})
    for path, output in sorted(failures.items()):
        yield Problem(path, 0, "is not formatted: run clang-format -i on it\n" + "\n".join(output.splitlines()[:3]))
