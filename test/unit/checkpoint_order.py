#!/usr/bin/env python3
"""Checks, by system calls, that a checkpoint reaches the disk in the order of docs/checkpoint-format.md.

checkpoint_order.py PROGRAM ARGUMENTS... runs a program that saves checkpoints under strace, and checks its calls.
Exits with 77 if strace is missing, or may not trace.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = "openat,fallocate,write,pwrite64,pwritev,fsync,rename,ftruncate,mkdir,unlink,unlinkat,rmdir"
# Calls that name a file by its descriptor, and calls that name it by its path.
WRITES = ("write", "pwrite64", "pwritev")
BY_DESCRIPTOR = re.compile(r"^(?:(\d+)\s+)?(\w+)\(\d+<([^>]*)>")
RENAME = re.compile(r'^(?:(\d+)\s+)?rename\("[^"]*", "([^"]*)"\) = 0')
MANIFEST = "manifest.json"


def traced(command):
    """Triples of thread, call and path, in order; a rename has the new path."""
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
                events.append((match[1], "rename", str(Path(match[2]).absolute())))
            elif match := BY_DESCRIPTOR.match(line):
                events.append((match[1], match[2], match[3]))
        return events


def problems_of(events):
    """The calls that are out of order, for each rename of a manifest."""
    renames = [at for at, (_, call, path) in enumerate(events) if call == "rename" and path.endswith(MANIFEST)]
    if not renames:
        yield "no manifest was renamed"
    begin = 0
    for rename in renames:
        folder = str(Path(events[rename][2]).parent)
        before, after = events[begin:rename], events[rename + 1 :]
        begin = rename + 1
        # Several ranks write to one file, each with a thread of its own.
        files = sorted({(thread, path) for thread, call, path in before if call in WRITES and path.startswith(folder + "/")})
        if not any(path.endswith(".shards") for _, path in files):
            yield f"{folder}: no shard was written before its manifest"
        for thread, path in files:
            calls = [call for one, call, other in before if (one, other) == (thread, path)]
            if calls[-1] != "fsync":
                yield f"{path}: {calls[-1]} is the last call of {thread} before the manifest is renamed, expected fsync"
            if path.endswith(".shards") and calls[0] != "fallocate":
                yield f"{path}: {calls[0]} is the first call of {thread}, expected fallocate"
        manifest_begin = min((at for at, (_, _, path) in enumerate(before) if path.endswith(MANIFEST + ".tmp")), default=0)
        # The folders of the files, and the folder of the step: synced by each writing thread, whose host has
        # its own view of them.
        shards = [(thread, path) for thread, path in files if path.endswith(".shards")]
        for thread, synced in sorted({(thread, str(Path(path).parent)) for thread, path in shards} | {(thread, folder) for thread, _ in shards}):
            own_end = max(at for at, (one, _, path) in enumerate(before) if (one, path) in shards and one == thread)
            if (thread, "fsync", synced) not in before[own_end:manifest_begin]:
                yield f"{synced}: not synced by {thread} between its files and the manifest"
        # The folder of all checkpoints: an earlier job may have made the folder of the step.
        shards_end = max((at for at, (_, _, path) in enumerate(before) if path.endswith(".shards")), default=0)
        if not any(event[1:] == ("fsync", str(Path(folder).parent)) for event in before[shards_end:]):
            yield f"{Path(folder).parent}: not synced before the manifest is renamed"
        if not any(event[1:] == ("fsync", folder) for event in after):
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
