"""Batches of a worker, in a random order."""
import numpy

from torch_common.seeds import seed_of


class BatchSource:
    """Part `part` of `parts` of the files. Rows are read `buffer` at a time and shuffled: the memory does not depend on the files.

    If all rows of the part fit into the buffer, they are read once.
    """

    def __init__(self, files, encoder, part, parts, batch, buffer, seed):
        self._files, self._encoder, self._part, self._parts, self._seed = files, encoder, part, parts, seed
        self._batch = batch
        self._size = max(1, buffer // batch) * batch
        self._only = None  # all rows of the part

    def epoch(self, number, skip=0):
        """The batches of an epoch, which is a number from 1. The order depends on the number. skip: batches that are left out."""
        of_chunk = self._size // self._batch
        first = skip // of_chunk
        for at, rows in enumerate(self._chunks(first), first):
            order = numpy.random.default_rng(seed_of(self._seed, "order", number, self._part, at)).permutation(len(rows))
            begin = max(0, skip - at * of_chunk) * self._batch
            for place in range(begin, len(rows), self._batch):
                yield self._encoder.encode(rows.take(order[place:place + self._batch]))

    def _chunks(self, first):
        if self._only is not None:
            return iter([self._only][first:])
        return self._read(first)

    def _read(self, first):
        count, last = 0, None
        for last in self._files.chunks(self._part, self._parts, self._size, first):
            count += 1
            yield last
        if first == 0 and count == 1:
            self._only = last


def in_order(files, encoder, part, parts, batch, numbered=False):
    """Pairs of Batch and Rows, in the order of the files."""
    for rows in files.chunks(part, parts, batch, numbered=numbered):
        yield encoder.encode(rows), rows
