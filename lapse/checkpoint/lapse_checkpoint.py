"""Reads checkpoints of Lapse as NumPy arrays; writes none. Needs NumPy and, to verify checksums, xxhash.

    import lapse_checkpoint
    checkpoint = lapse_checkpoint.open("/scratch/run-7")      # the newest; step=12: another
    checkpoint.verify()                                       # reads every byte
    factors = checkpoint.tables["factors"]
    for keys, values, states in factors.blocks(): ...         # some 1 MiB each, mapped into memory
    keys, values, states = factors.read()                     # all, keys in rising order

docs/checkpoint-format.md describes the files. What is not as it describes is a CheckpointError.
"""
import bisect
import json
import pathlib
import re
import struct
import typing
import warnings

import numpy

try:
    import xxhash
except ImportError:
    xxhash = None

_VERSIONS = (1, 2)
_ELEMENTS = {"float32": (1, "<f4"), "float64": (2, "<f8"), "int32": (3, "<i4"), "int64": (4, "<i8")}
_HEADER = struct.Struct("<8sIIQQQB3sI")
_BLOCK = struct.Struct("<6Q")
_TRAILER = struct.Struct("<8s7Q")
_FIRST_LINE = re.compile(rb'\{"checksum": "([0-9a-f]{16})",\n')


class CheckpointError(Exception):
    """A file of a checkpoint that is missing, cut off, damaged, or of a later version."""

    def __init__(self, path, problem):
        super().__init__(f"{path}: {problem}")
        self.path = pathlib.Path(path)


class Rows(typing.NamedTuple):
    """Some keys of a table. Row i of values and states belongs to keys[i]. Where each key has its own length, values and
    states are lists of arrays."""
    keys: numpy.ndarray
    values: typing.Union[numpy.ndarray, list]
    states: typing.Union[numpy.ndarray, list]


def steps(folder):
    """The steps that have a checkpoint in a folder, rising."""
    found = (re.fullmatch(r"step-(0|[1-9][0-9]*)", path.parent.name) for path in pathlib.Path(folder).glob("step-*/manifest.json"))
    return sorted(int(match[1]) for match in found if match)


def open(folder, step=None):  # As gzip.open and others are called.
    """The checkpoint of a step or, without one, of the newest."""
    if step is None:
        step = _newest(folder)
    return Checkpoint(pathlib.Path(folder) / f"step-{step}")


def _newest(folder):
    """The step that was saved last. One whose manifest cannot be read counts as saved after all smaller steps."""
    newest = None
    largest = 0
    for step in steps(folder):
        try:
            order = Checkpoint(pathlib.Path(folder) / f"step-{step}").order
        except CheckpointError:
            order = largest
        largest = max(largest, order)
        newest = max(newest or (order, step), (order, step))
    if newest is None:
        raise CheckpointError(folder, "has no checkpoint")
    return newest[1]


class Checkpoint:
    """What a manifest lists: step, ranks, clocks, by name the tables, and not_finite, the numbers of all tables that are
    infinite or not a number: of a training that has failed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        path = self.folder / "manifest.json"
        content = _content(path)
        first = _FIRST_LINE.match(content)
        if not first:
            raise CheckpointError(path, "is no manifest of a checkpoint")
        _require_checksum(path, content[first.end():], int(first[1], 16), "the manifest")
        try:
            manifest = json.loads(content)
            if manifest["format"] != "lapse checkpoint":
                raise CheckpointError(path, "is no manifest of a checkpoint")
            if manifest["version"] not in _VERSIONS:
                raise CheckpointError(path, f"has version {manifest['version']}, this module reads up to {_VERSIONS[-1]}")
            self.number = int(manifest["checkpoint"], 16)
            self.step = manifest["step"]
            self.ranks = manifest["ranks"]
            self.order = manifest.get("order", 0)
            if not isinstance(self.order, int):
                raise TypeError("'order' is no number")
            self.clocks = list(manifest["clocks"])
            self._global = manifest["global"]
            self._per_worker = list(manifest["per_worker"])
            for blob in self._per_worker + ([] if self._global is None else [self._global]):
                _require_record(blob, "checksum")
            self.tables = {table["name"]: Table(self, table) for table in manifest["tables"]}
            self.not_finite = sum(table.not_finite for table in self.tables.values())
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(path, f"is no manifest of a checkpoint: {error!r}") from error

    def global_blob(self):
        """The bytes of the application, or None."""
        return None if self._global is None else self._blob(self._global)

    def worker_blobs(self):
        """Bytes of the application for each worker, in the order of the workers of all ranks."""
        return [self._blob(blob) for blob in self._per_worker]

    def verify(self):
        """Reads every byte. Raises CheckpointError for the first problem."""
        if xxhash is None:
            warnings.warn("there is no module xxhash: checksums are not verified", RuntimeWarning, stacklevel=2)
        for table in self.tables.values():
            for shard in table._shards:
                for _ in _Shard(self, table, shard).blocks(True):
                    pass
        self.global_blob()
        self.worker_blobs()

    def path_of(self, record):
        """The file of a shard or blob; never one outside the folder."""
        name = pathlib.PurePosixPath(record["file"])
        if name.is_absolute() or not name.parts or any(part.startswith(".") for part in name.parts):
            raise CheckpointError(self.folder / "manifest.json", f"lists '{name}', which is no name of a file")
        return self.folder / name

    def _blob(self, record):
        path = self.path_of(record)
        content = bytes(_part(path, record))
        _require_checksum(path, content, int(record["checksum"], 16), "the blob")
        return content


class Table:
    """name, sparse, keys (how many a dense table has), entries (how many are stored), dtype, length (elements of a value; 0:
    each key has its own), state_elements (beside a value), update_rule, not_finite (numbers of values and states that are
    infinite or not a number, as the manifest counts them; older files have no count: 0)."""

    def __init__(self, checkpoint, record):
        self._checkpoint = checkpoint
        self.name = record["name"]
        self.sparse = record["sparse"]
        self.keys = record["keys"]
        self.length = record["length"]
        self.state_elements = record["state_elements"]
        self.update_rule = record["update_rule"]
        self.update_rule_text = record["update_rule_text"]
        self.initialiser = record["initialiser"]
        self.element = record["element"]
        if self.element not in _ELEMENTS:
            raise ValueError(f"table '{self.name}' has elements of an unknown type '{self.element}'")
        self.dtype = numpy.dtype(_ELEMENTS[self.element][1])
        self._shards = list(record["shards"])
        for shard in self._shards:
            _require_record(shard, "index_checksum")
            if shard["entries"] < 0:
                raise ValueError(f"table '{self.name}' has a shard of negative size")
        self.entries = sum(shard["entries"] for shard in self._shards)
        self.not_finite = sum(shard.get("not_finite", 0) for shard in self._shards)

    def blocks(self, verify=True):
        """Gives Rows for block after block, as views of the mapped files. Keys rise within a block; the blocks of several
        ranks follow one another."""
        for shard in self._shards:
            yield from _Shard(self._checkpoint, self, shard).blocks(verify)

    def read(self, verify=True):
        """All keys in rising order, with values and states, as Rows in memory."""
        blocks = list(self.blocks(verify))
        keys = numpy.concatenate([block.keys for block in blocks] or [numpy.empty(0, "<u8")])
        order = numpy.argsort(keys, kind="stable")
        if self.length == 0:
            values = [value for block in blocks for value in block.values]
            states = [state for block in blocks for state in block.states]
            return Rows(keys[order], [values[i].copy() for i in order], [states[i].copy() for i in order])
        ranks = numpy.empty(len(order), numpy.intp)
        ranks[order] = numpy.arange(len(order))
        values = numpy.empty((len(keys), self.length), self.dtype)
        states = numpy.empty((len(keys), self.state_elements), self.dtype)
        begin = 0
        for block in blocks:
            rows = ranks[begin:begin + len(block.keys)]
            values[rows], states[rows] = block.values, block.states
            begin += len(block.keys)
        return Rows(keys[order], values, states)

    def rows(self, keys, verify=True):
        """{key: (value, state)} for those of the keys that the checkpoint has. Reads only blocks that may have one."""
        wanted = sorted({int(key) for key in keys})
        found = {}
        for record in self._shards:
            shard = _Shard(self._checkpoint, self, record)
            for block in shard.index:
                here = wanted[bisect.bisect_left(wanted, block[0]):bisect.bisect_right(wanted, block[1])]
                if not here:
                    continue
                rows = shard.block(block, verify)
                places = numpy.searchsorted(rows.keys, numpy.array(here, "<u8"))
                for key, place in zip(here, places):
                    if place < len(rows.keys) and rows.keys[place] == key:
                        found[key] = (numpy.array(rows.values[place]), numpy.array(rows.states[place]))
        return found


class _Shard:
    """One part of a table in a file. `index`: for each block first and last key, count, offset, bytes, checksum."""

    def __init__(self, checkpoint, table, record):
        self._path = checkpoint.path_of(record)
        self._table = table
        self._bytes = _part(self._path, record)
        size = len(self._bytes)
        if size < _HEADER.size + 8 + _TRAILER.size:
            self._refuse("is too short for a shard")
        magic, version, header_bytes, number, length, state, element, _, name_bytes = _HEADER.unpack_from(self._bytes, 0)
        if magic != b"LAPSESHD" or version not in _VERSIONS:
            self._refuse("is no shard of a checkpoint")
        if header_bytes > size - _TRAILER.size or name_bytes > header_bytes - _HEADER.size - 8:
            self._refuse("has a header that contradicts itself")
        self._require_checksum(0, header_bytes - 8, self._number(header_bytes - 8), "its header")
        name = bytes(self._bytes[_HEADER.size:_HEADER.size + name_bytes])
        kind = (table.name.encode(), _ELEMENTS[table.element][0], table.length, table.state_elements)
        if (name, element, length, state) != kind:
            self._refuse("is a shard of another table")
        end = size - _TRAILER.size
        magic, own_number, entries, blocks, index, index_checksum, own_bytes, checksum = _TRAILER.unpack_from(self._bytes, end)
        self._require_checksum(end, _TRAILER.size - 8, checksum, "its trailer")
        if magic != b"LAPSEEND" or own_bytes != size or entries != record["entries"]:
            self._refuse("has a trailer that contradicts itself")
        if number != checkpoint.number or own_number != number or index_checksum != int(record["index_checksum"], 16):
            self._refuse("belongs to another checkpoint")
        if index > end or end - index != blocks * _BLOCK.size:
            self._refuse("has an index that contradicts itself")
        self._require_checksum(index, end - index, index_checksum, "its index")
        self.index = [_BLOCK.unpack_from(self._bytes, at) for at in range(index, end, _BLOCK.size)]
        self._end = index

    def blocks(self, verify):
        for block in self.index:
            yield self.block(block, verify)

    def block(self, block, verify):
        """The Rows of one block of the index."""
        first, last, count, offset, size, checksum = block
        if count == 0 or size > self._end or offset > self._end - size or count > size // 8:
            self._refuse("has an index that contradicts itself")
        if verify:
            self._require_checksum(offset, size, checksum, f"the block at byte {offset} (keys {first} to {last})")
        keys = self._array(offset, count, "<u8", offset + size)
        if keys[0] != first or keys[-1] != last or (count > 1 and not (keys[1:] > keys[:-1]).all()):
            self._refuse(f"has wrong keys in the block at byte {offset}")
        begin, end = offset + 8 * count, offset + size
        length, state = self._table.length, self._table.state_elements
        if length != 0:
            rows = self._array(begin, count * (length + state), self._table.dtype, end).reshape(count, length + state)
            return Rows(keys, rows[:, :length], rows[:, length:])
        lengths = self._array(begin, count, "<u4", end).astype("<u8")
        states = self._array(begin + 4 * count, count, "<u4", end).astype("<u8")
        begin += 8 * count
        elements = self._array(begin, int((lengths + states).sum()), self._table.dtype, end)
        cuts = numpy.empty(2 * count, "<u8")
        cuts[0::2], cuts[1::2] = lengths, states
        parts = numpy.split(elements, numpy.cumsum(cuts[:-1]).astype(numpy.intp))
        return Rows(keys, parts[0::2], parts[1::2])

    def _array(self, offset, count, dtype, end):
        if count * numpy.dtype(dtype).itemsize > end - offset:
            self._refuse(f"has a block before byte {end} that contradicts itself")
        return numpy.frombuffer(self._bytes, dtype, count, offset)

    def _number(self, offset):
        return struct.unpack_from("<Q", self._bytes, offset)[0]

    def _require_checksum(self, offset, size, expected, what):
        _require_checksum(self._path, self._bytes[offset:offset + size], expected, what)

    def _refuse(self, problem):
        raise CheckpointError(self._path, problem)


def _require_record(record, checksum):
    """Raises KeyError, TypeError or ValueError where that is no shard or blob of a manifest."""
    int(record[checksum], 16)
    if not isinstance(record["file"], str):
        raise TypeError(f"'file' is {record['file']!r}")
    for name in ("bytes", "offset"):
        size = record.get(name, 0) if name == "offset" else record[name]
        if not isinstance(size, int) or size < 0:
            raise ValueError(f"'{name}' is {size!r}")


def _content(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(path, f"cannot be read: {error.strerror}") from error


def _part(path, record):
    """The bytes of a shard or blob: a file, or a part of one; mapped into memory."""
    offset, size = record.get("offset", 0), record["bytes"]
    try:
        there = path.stat().st_size
        if there < offset + size or ("offset" not in record and there != size):
            raise CheckpointError(path, f"has {there} bytes, expected {offset + size}")
        return numpy.memmap(path, numpy.uint8, "r", offset, (size,)) if size else numpy.empty(0, numpy.uint8)
    except OSError as error:
        raise CheckpointError(path, f"cannot be read: {error.strerror}") from error


def _require_checksum(path, content, expected, what):
    if xxhash is not None and xxhash.xxh3_64_intdigest(content) != expected:
        raise CheckpointError(path, f"the checksum of {what} differs")
