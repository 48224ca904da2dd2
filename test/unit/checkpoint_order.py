#!/usr/bin/env python3
"""Whether a checkpoint reaches the disk in the order of docs/checkpoint-format.md, by the calls of the system.

checkpoint_order.py PROGRAM ARGUMENTS... runs a program that saves checkpoints under strace, and reads what it did.
Exits with 77 where there is no strace, or it may not trace.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = "openat,fallocate,write,fsync,rename,ftruncate,mkdir,unlink,unlinkat,rmdir"
# Calls that name a file by its descriptor, and by its path.
BY_DESCRIPTOR = re.compile(r"^(?:\d+\s+)?(\w+)\(\d+<([^>]*)>")
RENAME = re.compile(r'^(?:\d+\s+)?rename\("([^"]*)", "([^"]*)"\) = 0')
MANIFEST = "manifest.json"


def traced(command):
    """Pairs of call and path, in order; a rename has the new path."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        run = subprocess.run(["strace", "-f", "-y", "-s", "0", "-e", f"trace={CALLS}", "-o", log, *command], capture_output=True, text=True)
        if run.returncode != 0:
            if "ptrace" in run.stderr:
                sys.exit(77)
            sys.exit(f"{command} ends with {run.returncode}: {run.stdout}{run.stderr}")
        events = []
        for line in log.read_text(errors="replace").splitlines():
            if match := RENAME.match(line):
                events.append(("rename", match[2]))
            elif match := BY_DESCRIPTOR.match(line):
                events.append((match[1], match[2]))
        return events


def problems_of(events):
    """What is out of order, for each rename of a manifest."""
    renames = [at for at, (call, path) in enumerate(events) if call == "rename" and path.endswith(MANIFEST)]
    if not renames:
        yield "no manifest was renamed"
    begin = 0
    for rename in renames:
        folder = str(Path(events[rename][1]).parent)
        before, after = events[begin:rename], events[rename + 1 :]
        begin = rename + 1
        files = {path for call, path in before if call == "write" and str(Path(path).parent) == folder}
        if not any(path.endswith(".shard") for path in files):
            yield f"{folder}: no shard was written before its manifest"
        for path in files:
            calls = [call for call, other in before if other == path]
            if calls[-1] != "fsync":
                yield f"{path}: {calls[-1]} is its last call before the manifest is renamed, expected fsync"
            if path.endswith(".shard") and calls[0] != "fallocate":
                yield f"{path}: {calls[0]} is its first call, expected fallocate"
        shards_end = max((at for at, (call, path) in enumerate(before) if path.endswith((".shard", ".blob"))), default=0)
        manifest_begin = min((at for at, (_, path) in enumerate(before) if path.endswith(MANIFEST + ".tmp")), default=0)
        if not any(event == ("fsync", folder) for event in before[shards_end:manifest_begin]):
            yield f"{folder}: not synced between its files and its manifest"
        if ("fsync", folder) not in after:
            yield f"{folder}: not synced after the rename"


def main():
    try:
        events = traced(sys.argv[1:])
    except FileNotFoundError:
        print("no strace here")
        sys.exit(77)
    problems = list(problems_of(events))
    print("\n".join(problems) or f"{len(events)} calls in order")
    sys.exit(1 if problems else 0)


main()
