"""Decoded rows of a file, by column."""
import dataclasses

import numpy


@dataclasses.dataclass
class Rows:
    """n rows. labels: float32 (n), NaN for none. ids: int64 (n, categorical). numbers: float32 (n, numeric), NaN for missing.
    list_ids: int64, those of all rows and list columns in order. list_lengths: int64 (n, lists). lines: int64 (n), or None."""
    labels: numpy.ndarray
    ids: numpy.ndarray
    numbers: numpy.ndarray
    list_ids: numpy.ndarray
    list_lengths: numpy.ndarray
    lines: numpy.ndarray = None

    def __len__(self):
        return len(self.labels)

    def take(self, indices):
        """The rows with these indices."""
        list_ids = self.list_ids
        if self.list_lengths.shape[1]:
            of_row = self.list_lengths.sum(1)
            begins = numpy.cumsum(of_row) - of_row
            lengths = of_row[indices]
            ends = numpy.cumsum(lengths)
            places = numpy.arange(ends[-1] if len(ends) else 0) + numpy.repeat(begins[indices] - (ends - lengths), lengths)
            list_ids = list_ids[places]
        return Rows(self.labels[indices], self.ids[indices], self.numbers[indices], list_ids, self.list_lengths[indices],
                    None if self.lines is None else self.lines[indices])


def joined(parts):
    """The rows of one or more parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    lines = None if parts[0].lines is None else numpy.concatenate([part.lines for part in parts])
    return Rows(*(numpy.concatenate([getattr(part, name) for part in parts])
                  for name in ("labels", "ids", "numbers", "list_ids", "list_lengths")), lines)
