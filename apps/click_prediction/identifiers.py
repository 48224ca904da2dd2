"""Ids of categories: hashes, so that no dictionary of all categories is needed."""
import hashlib

import numpy

from .schema import LARGEST_ID

_CACHED = 1 << 16  # texts of a column
_MISSING = b"\0missing"


def hash_of(name, value, buckets):
    """The id of a value, as bytes, of a column: 63 bits, or below the number of buckets if there are any."""
    digest = hashlib.blake2b(name.encode() + b"\0" + value, digest_size=8).digest()
    number = int.from_bytes(digest, "little") & LARGEST_ID
    return number % buckets if buckets else number


class ColumnIds(dict):
    """{text of a cell: id} of a column, computed on demand; a cache with a limit."""

    def __init__(self, name, missing, buckets):
        super().__init__()
        self._name, self._missing, self._buckets = name, missing, buckets

    def __missing__(self, text):
        if len(self) >= _CACHED:
            self.clear()
        value = text.strip()
        number = hash_of(self._name, _MISSING if value in self._missing else value.encode(), self._buckets)
        self[text] = number
        return number


def combined(columns, buckets):
    """Ids of a cross of columns, each int64 (n): equal for equal combinations."""
    mixed = numpy.zeros(len(columns[0]), numpy.uint64)
    for column in columns:
        mixed = (mixed + numpy.uint64(0x9E3779B97F4A7C15)) ^ column.astype(numpy.uint64)
        mixed = (mixed ^ (mixed >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> numpy.uint64(31)
    mixed &= numpy.uint64(LARGEST_ID)
    return (mixed % numpy.uint64(buckets) if buckets else mixed).astype(numpy.int64)
