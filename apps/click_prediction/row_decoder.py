"""Decodes lines of a file into rows."""
import csv

import numpy

from torch_common.errors import FileError

from .identifiers import ColumnIds
from .rows import Rows
from .schema import matching


def header_of(schema, path, line):
    """The names of the columns of a file, whose first line is given. Raises FileError."""
    if not line:
        raise FileError(path, "is empty")
    if not schema.has_header:
        return schema.columns
    names = [name.strip() or str(at) for at, name in enumerate(_cells(_text(path, line, 1), schema.separator), 1)]
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise FileError(path, f"two columns have the name '{twice[0]}'", 1)
    return tuple(names)


def _text(path, line, number):
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FileError(path, f"a byte that is not UTF-8: {error.object[error.start]:#x}", number, error.start + 1) from None


def _cells(text, separator):
    if '"' not in text:
        return text.split(separator)
    return next(csv.reader([text], delimiter=separator), [])


class RowDecoder:
    """Of one file. names: of its columns. needs_label: whether a file without the label's column is an error."""

    def __init__(self, schema, features, path, names, needs_label=True):
        self._schema, self._features, self._path, self._names = schema, features, path, names
        sums = dict(features.sums)
        numeric = [name for name in features.numeric if name not in sums]
        for name in (*features.categorical, *numeric, *features.lists, *([schema.label] if needs_label else [])):
            if name not in names:
                raise FileError(path, f"there is no column '{name}', but {', '.join(names)}", 1 if schema.has_header else None)
        self._label = names.index(schema.label) if schema.label in names else None
        self._categorical = [(names.index(name), ColumnIds(name, schema.missing, schema.hash_buckets))
                             for name in features.categorical]
        # By numeric feature the places of the columns that it sums up.
        self._numeric = [matching(names, sums[name]) if name in sums else [names.index(name)] for name in features.numeric]
        for name, places in zip(features.numeric, self._numeric):
            if not places:
                raise FileError(path, f"there is no column '{sums[name]}', but {', '.join(names)}", 1 if schema.has_header else None)
        self._logarithm = [features.numeric.index(name) for name in features.logarithm]
        self._lists = [(names.index(name), ColumnIds(name, schema.missing, schema.hash_buckets)) for name in features.lists]

    def decode(self, block, indices):
        """The Rows of the lines of a Block with these indices. Raises FileError with line and column."""
        columns = self._columns(block, indices)
        count = len(indices)
        ids = numpy.empty((count, len(self._categorical)), numpy.int64)
        for at, (place, known) in enumerate(self._categorical):
            ids[:, at] = numpy.fromiter(map(known.__getitem__, columns[place]), numpy.int64, count)
        numbers = numpy.empty((count, len(self._numeric)), numpy.float32)
        for at, places in enumerate(self._numeric):
            values = sum(self._numbers(block, indices, columns[place], place) for place in places)
            numbers[:, at] = numpy.sign(values) * numpy.log1p(numpy.abs(values)) if at in self._logarithm else values
        lines = None if block.line is None else block.line + numpy.asarray(indices, numpy.int64)
        return Rows(self._labels(block, indices, columns), ids, numbers, *self._list_ids(columns, count), lines)

    def _columns(self, block, indices):
        """The cells, by column."""
        if not indices:
            return [()] * len(self._names)
        separator = self._schema.separator
        try:
            texts = b"".join([block.lines[index].rstrip(b"\r\n") + b"\n" for index in indices]).decode("utf-8").split("\n")[:-1]
        except UnicodeDecodeError:
            texts = [_text(self._path, block.lines[index], block.line_number(self._path, index)) for index in indices]
        cells = [_cells(text, separator) for text in texts]
        for index, row in zip(indices, cells):
            if len(row) != len(self._names):
                raise FileError(self._path, f"{len(row)} cells, expected {len(self._names)}", block.line_number(self._path, index))
        return list(zip(*cells))

    def _error(self, block, index, place, problem):
        return FileError(self._path, f"{self._names[place]}: {problem}", block.line_number(self._path, index), place + 1)

    def _labels(self, block, indices, columns):
        labels = numpy.full(len(indices), numpy.nan, numpy.float32)
        if self._label is None:
            return labels
        schema = self._schema
        values = {schema.positive: 1.0, schema.negative: 0.0}
        for at, text in enumerate(columns[self._label]):
            value = values.get(text)
            if value is None:
                value = values.get(text.strip())
                if value is None:
                    raise self._error(block, indices[at], self._label,
                                      f"label '{text.strip()}', expected {schema.negative} or {schema.positive}")
            labels[at] = value
        return labels

    def _numbers(self, block, indices, texts, place):
        """The numbers of a column, float64; NaN for missing ones."""
        try:
            values = numpy.fromiter(map(float, texts), numpy.float64, len(texts))
            missing = None
        except ValueError:
            missing = numpy.fromiter((text.strip() in self._schema.missing for text in texts), bool, len(texts))
            values = numpy.empty(len(texts))
            for at, text in enumerate(texts):
                try:
                    values[at] = 0 if missing[at] else float(text)
                except ValueError:
                    raise self._error(block, indices[at], place, f"'{text.strip()}', expected a number, or a mark of missing values") from None
        bad = ~(numpy.abs(values) <= numpy.finfo(numpy.float32).max)
        if bad.any():
            at = int(bad.argmax())
            if missing is None and texts[at].strip() in self._schema.missing:  # Such as nan.
                missing = numpy.fromiter((text.strip() in self._schema.missing for text in texts), bool, len(texts))
                bad &= ~missing
                at = int(bad.argmax())
            if bad.any():
                raise self._error(block, indices[at], place, f"'{texts[at].strip()}', expected a finite number")
        if missing is not None:
            values[missing] = numpy.nan
        return values

    def _list_ids(self, columns, count):
        lengths = numpy.zeros((count, len(self._lists)), numpy.int64)
        if not self._lists:
            return numpy.empty(0, numpy.int64), lengths
        separator, found = self._schema.list_separator, []
        missing = self._schema.missing
        for row in range(count):
            for at, (place, known) in enumerate(self._lists):
                values = [value for value in columns[place][row].split(separator) if value.strip() not in missing]
                lengths[row, at] = len(values)
                found.extend(map(known.__getitem__, values))
        return numpy.array(found, numpy.int64), lengths
