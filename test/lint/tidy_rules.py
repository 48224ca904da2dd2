"""Runs clang-tidy on the files that differ from the main branch. .clang-tidy has the checks and their reasons."""
import concurrent.futures
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time

from compiler_rules import PARALLEL, Skipped
from source_tree import CPP, Problem

VERSION = "14"  # the checks of .clang-tidy are those of this version
MOST_FILES = 12
SECONDS = 40  # no further file is begun after that


def _git(root, *arguments):
    result = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else None


def base_of_changes(root):
    """The base of the changes: the commit where the branch left the main branch, or on the main branch the previous commit."""
    head = _git(root, "rev-parse", "HEAD")
    if head is None:
        raise Skipped("the sources are no git repository with commits: changed files are NOT checked by clang-tidy")
    fork = _git(root, "merge-base", "origin/main", "HEAD")
    if fork and fork != head:
        return fork
    before = _git(root, "rev-parse", "--verify", "--quiet", "HEAD~1")
    if before is None:
        raise Skipped("there is neither origin/main nor a commit before HEAD (a shallow clone?): changed files are "
                      "NOT checked by clang-tidy")
    return before


# Separate projects, which include other packages: no build has their flags.
OTHER_PROJECTS = ("test/install/coexistence/",)


def changed_files(root, base):
    """C++ files that differ from the base, including uncommitted changes; shortest files first, because more of them fit
    into the time."""
    names = _git(root, "diff", "--name-only", "--diff-filter=d", "--no-renames", base) or ""
    names = [name for name in names.splitlines() if name.endswith(CPP) and not name.startswith(OTHER_PROJECTS)]
    names = [name for name in names if not name.endswith((".c", ".h"))]  # C is not C++
    names = [name for name in names if (root / name).is_file()]
    return sorted(names, key=lambda name: ((root / name).stat().st_size, name))


def _flags(command):
    """The compiler's options that affect the meaning: definitions, folders, language. Precompiled headers are left out: they
    belong to another compiler."""
    words = shlex.split(command)
    taken, position = [], 0
    while position < len(words):
        word = words[position]
        if word in ("-isystem", "-I", "-D"):
            taken += words[position:position + 2]
            position += 1
        elif word.startswith(("-I", "-D", "-std=", "-isystem")):
            taken.append(word)
        position += 1
    return taken


def _sources_of(file):
    """The file, or the sources that are joined in it."""
    if file.parent.name != "Unity" or not file.is_file():
        return [str(file)]
    return re.findall(r'^#include "(/[^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE) or [str(file)]


def _flags_of_files(build, root, names):
    """The flags of each file; a header gets those of a source in its folder, or of any source."""
    path = build / "compile_commands.json"
    if not path.is_file():
        raise Skipped(f"{path} does not exist: changed files are NOT checked by clang-tidy")
    flags, of_folder = {}, {}
    for entry in json.loads(path.read_text()):
        for name in _sources_of(pathlib.Path(entry["file"])):
            flags[name] = _flags(entry["command"])
            of_folder.setdefault(name.rpartition("/")[0], flags[name])
    default = [f"-I{root}", "-std=c++20"]
    # Programs have every library's folders, so any of them will do if no nearer source exists.
    anywhere = max(flags.values(), key=len, default=default)
    return {name: flags.get(str(root / name)) or of_folder.get(str((root / name).parent)) or anywhere for name in names}


def check_tidy(root, build=None):
    """clang-tidy finds nothing in the files that differ from the main branch."""
    tool = shutil.which(f"clang-tidy-{VERSION}") or shutil.which("clang-tidy")
    if tool is None or f"version {VERSION}." not in subprocess.run([tool, "--version"], capture_output=True, text=True,
                                                                   check=True).stdout:
        raise Skipped(f"clang-tidy {VERSION} is not installed: changed files are NOT checked by it")
    if shutil.which("git") is None:
        raise Skipped("git is not installed: which files have changed is not known, clang-tidy checks NONE")
    base = base_of_changes(root)
    names = changed_files(root, base)
    chosen, left = names[:MOST_FILES], names[MOST_FILES:]
    flags = _flags_of_files(build, root, chosen) if build else {name: [f"-I{root}", "-std=c++20"] for name in chosen}
    end = time.monotonic() + SECONDS

    def run(name, folder):
        if time.monotonic() > end:
            return name, None, ""
        path = root / name
        options = []
        if name.endswith(".hpp"):  # A header compiled as the source itself ignores its `#pragma once`.
            path = pathlib.Path(folder) / f"{chosen.index(name)}.cpp"
            path.write_text(f'#include "{root / name}"\n', encoding="utf-8")
            options = [f"--header-filter=^{re.escape(str(root / name))}$", f"--config-file={root / '.clang-tidy'}"]
        command = [tool, "--quiet", "--warnings-as-errors=*", *options, str(path), "--", "-x", "c++", *flags[name], "-w"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
        return name, result.returncode, result.stdout

    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as executor, tempfile.TemporaryDirectory() as folder:
        results = list(executor.map(run, chosen, [folder] * len(chosen)))
    left += [name for name, code, _ in results if code is None]
    checked = len(names) - len(left)
    print(f"clang-tidy: {checked} of {len(names)} C++ files that differ from {base[:12]} are checked")
    for name in left:
        print(f"NOT checked, more than {MOST_FILES} files or {SECONDS} s: {name}")
    for name, code, output in results:
        if code:
            yield Problem(name, 0, "clang-tidy:\n" + "\n".join(output.splitlines()[:30]))
