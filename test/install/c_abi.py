#!/usr/bin/env python3
"""Compares the C interface with its record, c_abi.txt: it must not change within a version.

c_abi.py ROOT [--library FILE] [--write]

Every declaration of lapse/c/*.h is one line of the record: functions, structures, enumerations with their values,
pointers to functions. A line that is gone or has changed breaks programs that exist: it needs another minor number of the
version (lapse/core/version.h), as the name of the shared library has it. A new line is added by --write.
--library: a shared library, which shows exactly the functions that the headers declare.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

RECORD = Path(__file__).with_name("c_abi.txt")
HEAD = "# The C interface of version {}: see c_abi.py.\n"


def declarations(root):
    found = []
    for header in sorted((root / "lapse/c").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.DOTALL)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
        text = text.replace('extern "C" {', "")
        depth, begin = 0, 0
        for at, character in enumerate(text):
            depth += {"{": 1, "}": -1}.get(character, 0)
            if character == ";" and depth == 0:
                words = re.sub(r"\s*([(){},;*])\s*", r"\1", " ".join(text[begin:at].split()))
                found.append(words.replace("LAPSE_C_API ", "").replace("*", "* ").replace(",", ", ").strip())
                begin = at + 1
            if depth < 0:  # the end of extern "C"
                depth, begin = 0, at + 1
    return found


def version(root):
    text = (root / "lapse/core/version.h").read_text()
    return ".".join(re.search(rf"LAPSE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR"))


def without_names(line):
    """The names of parameters may change."""
    return re.sub(r"(\w[ *]+)\w+(?=[,)])", r"\1", line)


def functions(lines):
    return {match[1] for match in (re.match(r"(?!typedef).*?(\w+)\(", line) for line in lines) if match}


def shown_by(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True).stdout
    return {words[2] for words in map(str.split, lines.splitlines()) if words[1] in "TW" and not words[2].startswith("_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--write", action="store_true", help="adds what is new; all, where the version has changed")
    arguments = parser.parse_args()
    now, head = declarations(arguments.root), HEAD.format(version(arguments.root))
    recorded_head, *recorded = RECORD.read_text().splitlines(keepends=True) if RECORD.exists() else [head]
    recorded = [line.rstrip("\n") for line in recorded]
    problems = []
    if recorded_head == head:
        kept = set(map(without_names, now))
        problems += [f"gone or changed: {line}" for line in recorded if without_names(line) not in kept]
    if arguments.write and not problems:
        RECORD.write_text(head + "".join(line + "\n" for line in now))
        return 0
    if recorded_head != head:
        problems.append(f"the record is of another version than {version(arguments.root)}: c_abi.py --write")
    problems += [f"not in the record, c_abi.py --write adds it: {line}" 
                 for line in now if without_names(line) not in set(map(without_names, recorded))]
    if arguments.library:
        declared, shown = functions(now), shown_by(arguments.library)
        problems += [f"{arguments.library.name} does not show {name}" for name in sorted(declared - shown)]
        problems += [f"{arguments.library.name} shows {name}, which no header declares" for name in sorted(shown - declared)]
    for problem in problems:
        print(problem)
    print(f"{len(now)} declarations, {len(functions(now))} functions, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
