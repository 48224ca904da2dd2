#!/usr/bin/env python3
"""Runs the commands in documents: every sh block, in a folder that looks like the project with its release build.

commands.py SOURCE_FOLDER BUILD_FOLDER

A block that exits with 77 says that it cannot run on this machine.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
SKIPPED = 77  # exit status
SECONDS = 120  # for one block


def documents(source):
    return [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md")), *sorted(source.glob("*/**/README.md"))]


def make_project(folder, source, build):
    """Links to everything except the build folder; a new one contains the tested build as `release`."""
    for entry in source.iterdir():
        if entry.name != "build" and not entry.name.startswith(".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    (folder / "build" / "release").symlink_to(build)


def main():
    source, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    failures = []
    run = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_project(folder, source, build)
        seen = set()
        for document in documents(source):
            for block in BLOCK.findall(document.read_text()):
                if "build" in document.relative_to(source).parts or (document, block) in seen:
                    continue
                seen.add((document, block))
                run += 1
                print(f"==== {document.relative_to(source)}\n{block}", flush=True)
                try:
                    result = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, timeout=SECONDS,
                                            stdin=subprocess.DEVNULL, env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
                    if result.returncode == SKIPPED:
                        print("skipped", flush=True)
                    elif result.returncode != 0:
                        failures.append(f"{document.relative_to(source)}: exit status {result.returncode}: {block}")
                except subprocess.TimeoutExpired:
                    failures.append(f"{document.relative_to(source)}: not finished after {SECONDS} s: {block}")
    for failure in failures:
        print("FAILED", failure)
    print(f"{run} blocks of commands, {len(failures)} failed")
    if run == 0 or failures:
        sys.exit(1)


if __name__ == "__main__":
    main()
