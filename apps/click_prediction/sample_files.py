"""The samples of several files, in parts for several readers."""
import zlib

import numpy

from torch_common.errors import FileError

from .grouped_rows import GroupedRows
from .input_lines import first_line, line_blocks
from .row_decoder import RowDecoder, header_of
from .rows import joined

_SPLITS = 1 << 16


class Split:
    """A share of the lines, chosen by their bytes and a seed: equal lines are on one side, on any number of ranks."""

    def __init__(self, share, seed, inside):
        self._limit, self._seed, self._inside = round(share * _SPLITS), seed, inside

    def __call__(self, line):
        return (zlib.crc32(line.rstrip(b"\r\n"), self._seed) % _SPLITS < self._limit) == self._inside


class SampleFiles:
    """Files with the columns of a schema. Reads their headers. Raises FileError.

    features: those of the training; None: those of the first file. keep: which lines are used, a Split, or None. needs_label:
    whether a file without labels is an error.
    """

    def __init__(self, schema, paths, features=None, keep=None, needs_label=True):
        self.schema, self.paths, self._keep = schema, tuple(paths), keep
        self.features = features
        self._readers = []
        for path in self.paths:
            names = header_of(schema, path, first_line(path))
            if self.features is None:
                self.features = schema.resolve(names, path)
            if schema.group is not None:
                for name in (schema.group, schema.item):
                    if name not in names:
                        raise FileError(path, f"there is no column '{name}', but {', '.join(names)}")
                self._readers.append(GroupedRows(schema, self.features, path, names))
            else:
                self._readers.append(RowDecoder(schema, self.features, path, names, needs_label))

    def single_files(self):
        """A SampleFiles for each file."""
        for path, reader in zip(self.paths, self._readers):
            one = object.__new__(SampleFiles)
            one.schema, one.features, one._keep, one.paths, one._readers = self.schema, self.features, self._keep, (path,), [reader]
            yield one

    def pieces(self, part, parts, numbered=False, skip=0):
        """Rows of a part, some thousands at a time; with numbered, they have their lines. skip: so many rows are left out."""
        for path, reader in zip(self.paths, self._readers):
            if self.schema.group is not None:
                pieces = reader.rows(part, parts, self._keep)
            else:
                pieces = self._decoded(path, reader, part, parts, numbered)
            for count, decode in pieces:
                if count <= skip:
                    skip -= count
                    continue
                rows = decode()
                yield rows.take(numpy.arange(skip, count)) if skip else rows
                skip = 0

    def _decoded(self, path, reader, part, parts, numbered):
        """(number of rows, function that decodes them) of each block."""
        for block in line_blocks(path, part, parts, self.schema.has_header, numbered=numbered):
            indices = [index for index, line in enumerate(block.lines) if line.strip() and (self._keep is None or self._keep(line))]
            yield len(indices), lambda block=block, indices=indices: reader.decode(block, indices)

    def chunks(self, part, parts, size, skip=0, numbered=False):
        """Rows of a part, `size` at a time, the last ones fewer. skip: so many chunks are left out."""
        waiting, count = [], 0
        for rows in self.pieces(part, parts, numbered, skip * size):
            waiting.append(rows)
            count += len(rows)
            while count >= size:
                every = joined(waiting)
                yield every.take(numpy.arange(size))
                waiting, count = [every.take(numpy.arange(size, count))], count - size
        if count:
            yield joined(waiting)

