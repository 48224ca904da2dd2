"""Samples from files with a line for each item of a group, such as the areas that a user has visited."""
import zlib

import numpy

from torch_common.errors import FileError

from .identifiers import ColumnIds
from .input_lines import line_blocks
from .rows import Rows

_AT_ONCE = 1024  # samples


class GroupedRows:
    """A sample for each group, whose lines follow each other: its label is whether it has the target, its list the other items.

    Groups belong to parts by the hash of their names, so every part reads the whole file.
    """

    def __init__(self, schema, features, path, names):
        self._schema, self._path = schema, path
        self._group, self._item = names.index(schema.group), names.index(schema.item)
        self._columns = len(names)
        self._ids = ColumnIds(features.lists[0], schema.missing, schema.hash_buckets)

    def rows(self, part, parts, keep=None):
        """(number of rows, function that returns them), some at a time. keep(group): whether a group, its name as bytes, is used.
        Raises FileError."""
        samples = []
        for name, line, items in self._groups():
            key = name.encode()
            if zlib.crc32(key) % parts != part or keep is not None and not keep(key):
                continue
            samples.append((line, items))
            if len(samples) == _AT_ONCE:
                yield len(samples), lambda samples=samples: self._made(samples)
                samples = []
        if samples:
            yield len(samples), lambda: self._made(samples)

    def _groups(self):
        """(name, its first line, items) of each group."""
        name, first, items = None, 0, []
        for line, group, item in self._cells():
            if group != name:
                if name is not None:
                    yield name, first, items
                name, first, items = group, line, []
            items.append(item)
        if name is not None:
            yield name, first, items

    def _cells(self):
        for block in line_blocks(self._path, 0, 1, self._schema.has_header):
            for index, line in enumerate(block.lines):
                if not line.strip():
                    continue
                number = block.line + index
                try:
                    cells = line.decode("utf-8").rstrip("\r\n").split(self._schema.separator)
                except UnicodeDecodeError as error:
                    raise FileError(self._path, "a byte that is not UTF-8", number, error.start + 1) from None
                if len(cells) != self._columns:
                    raise FileError(self._path, f"{len(cells)} cells, expected {self._columns}", number)
                if not cells[self._item].strip():
                    raise FileError(self._path, f"{self._schema.item}: no item", number, self._item + 1)
                yield number, cells[self._group], cells[self._item].strip()

    def _made(self, samples):
        target = self._schema.target
        others = [[item for item in items if item != target] for _, items in samples]
        labels = numpy.array([target in items for _, items in samples], numpy.float32)
        ids = numpy.array([self._ids[item] for items in others for item in items], numpy.int64)
        lengths = numpy.array([[len(items)] for items in others], numpy.int64)
        return Rows(labels, numpy.empty((len(samples), 0), numpy.int64), numpy.empty((len(samples), 0), numpy.float32), ids, lengths,
                    numpy.array([line for line, _ in samples], numpy.int64))
