"""Makes what the model computes with from decoded rows."""
import dataclasses

import numpy
import torch

from torch_common.errors import OptionError

from .identifiers import combined, hash_of

_LARGEST = 5.0  # normalised numbers are cut there


@dataclasses.dataclass
class Batch:
    """n samples. labels: float32 (n). numbers: float32 (n, numeric), normalised, 0 for missing.

    wide_ids: int64, those of the samples' n x wide_width single ids, then list ids. deep_ids: likewise. list_slots: int64, for each list
    id the number row * lists + list. list_sizes: float32 (n, lists), at least 1.
    """
    labels: torch.Tensor
    numbers: torch.Tensor
    wide_ids: torch.Tensor
    deep_ids: torch.Tensor
    list_slots: torch.Tensor
    list_sizes: torch.Tensor

    def __len__(self):
        return len(self.labels)


class BatchEncoder:
    """features: of the schema. bins: whether numeric columns have bins. bins_are_embedded: bins have embeddings, too.

    Call set_statistics before encode. Attributes: wide_width, deep_width: single ids of a sample in each part; lists, numbers: how many.
    """

    def __init__(self, features, hash_buckets, bins, bins_are_embedded):
        self._features, self._buckets = features, hash_buckets
        self._has_bins = bins and len(features.numeric) > 0
        categories = len(features.categorical)
        bins = len(features.numeric) if self._has_bins else 0
        self.deep_width = categories + (bins if bins_are_embedded else 0)
        self.wide_width = categories + bins + len(features.crosses)
        self.lists, self.numbers = len(features.lists), len(features.numeric)
        names = (*features.categorical, *(features.numeric if self._has_bins else ()))
        for name in (name for cross in features.crosses for name in cross):
            if name not in names:
                raise OptionError(f"--bins is 0, and the crosses of the schema have the numeric column '{name}': expected bins")
        self._crosses = [[names.index(name) for name in cross] for cross in features.crosses]

    def set_statistics(self, means, deviations, edges):
        """Of the numeric columns; edges: the bounds of bins."""
        self._means = numpy.asarray(means, numpy.float32)
        self._factors = (1 / numpy.asarray(deviations, numpy.float64)).astype(numpy.float32)
        self._edges = [numpy.asarray(column, numpy.float32) for column in edges]
        self._bin_ids = [numpy.array([hash_of(name, b"\0bin %d" % bin, self._buckets) for bin in range(len(column) + 2)], numpy.int64)
                         for name, column in zip(self._features.numeric, self._edges)]

    def encode(self, rows):
        """The Batch of Rows."""
        count = len(rows)
        missing = numpy.isnan(rows.numbers)
        numbers = numpy.where(missing, 0, numpy.clip((rows.numbers - self._means) * self._factors, -_LARGEST, _LARGEST))
        single = rows.ids
        if self._has_bins:
            bins = numpy.empty((count, self.numbers), numpy.int64)
            for at, (edges, ids) in enumerate(zip(self._edges, self._bin_ids)):
                found = numpy.searchsorted(edges, rows.numbers[:, at], "right")
                found[missing[:, at]] = len(edges) + 1
                bins[:, at] = ids[found]
            single = numpy.concatenate([rows.ids, bins], 1)
        crosses = [combined([single[:, column] for column in cross], self._buckets)[:, None] for cross in self._crosses]
        wide = numpy.concatenate([single, *crosses], 1) if crosses else single
        lengths = rows.list_lengths
        slots = numpy.repeat(numpy.arange(lengths.size), lengths.reshape(-1))
        return Batch(torch.from_numpy(rows.labels), torch.from_numpy(numbers.astype(numpy.float32)),
                     torch.from_numpy(numpy.concatenate([wide.reshape(-1), rows.list_ids])),
                     torch.from_numpy(numpy.concatenate([single[:, :self.deep_width].reshape(-1), rows.list_ids])),
                     torch.from_numpy(slots), torch.from_numpy(numpy.maximum(lengths, 1).astype(numpy.float32)))
