#!/usr/bin/env python3
"""Reads a checkpoint, written only from docs/checkpoint-format.md and without checksums, to test the description.

checkpoint_reader.py FOLDER STEP TABLE prints what `lapse-checkpoint extract --state` prints.
"""
import json
import struct
import sys
from pathlib import Path

ELEMENTS = {1: "f", 2: "d", 3: "i", 4: "q"}


def elements(code, content):
    return " ".join(f"{value:.9g}" for value in struct.unpack(f"<{len(content) // struct.calcsize(code)}{code}", content))


def entries_of(shard):
    """Triples of key, value and state, as text."""
    magic, version, _, _, length, state, kind = struct.unpack_from("<8sIIQQQB", shard, 0)
    end, _, _, blocks, index, _, size = struct.unpack_from("<8s6Q", shard, len(shard) - 64)
    assert magic == b"LAPSESHD" and end == b"LAPSEEND" and version == 1 and size == len(shard)
    code = ELEMENTS[kind]
    width = struct.calcsize(code)
    for block in range(blocks):
        _, _, count, offset, _, _ = struct.unpack_from("<6Q", shard, index + 48 * block)
        keys = struct.unpack_from(f"<{count}Q", shard, offset)
        offset += 8 * count
        lengths, states = [length] * count, [state] * count
        if length == 0:
            lengths = struct.unpack_from(f"<{count}I", shard, offset)
            states = struct.unpack_from(f"<{count}I", shard, offset + 4 * count)
            offset += 8 * count
        for key, own_length, own_state in zip(keys, lengths, states):
            middle, last = offset + width * own_length, offset + width * (own_length + own_state)
            yield key, elements(code, shard[offset:middle]), elements(code, shard[middle:last])
            offset = last


def shard_of(folder, record):
    with open(folder / record["file"], "rb") as file:
        file.seek(record["offset"])
        return file.read(record["bytes"])


def main():
    folder = Path(sys.argv[1]) / f"step-{sys.argv[2]}"
    manifest = json.loads((folder / "manifest.json").read_text())
    [table] = [table for table in manifest["tables"] if table["name"] == sys.argv[3]]
    rows = [row for shard in table["shards"] for row in entries_of(shard_of(folder, shard))]
    for key, value, state in sorted(rows):
        print(f"{key}\t{value}" + (f"\t{state}" if state else ""))


main()
