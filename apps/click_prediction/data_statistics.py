"""What a first pass over the training data finds: labels, and the distribution of numeric columns."""
import numpy

from torch_common.errors import ApplicationError, on_every_rank

_SAMPLE = 200_000  # rows of all ranks for quantiles


class DataStatistics:
    """Of the rows that were added. Attributes: rows, positives; by numeric column: known (rows that are not missing), means, deviations.

    state() is made of lists and numbers.
    """

    def __init__(self, columns):
        self.rows = self.positives = 0
        self.known = numpy.zeros(columns, numpy.int64)
        self.means, self._squares = numpy.zeros(columns), numpy.zeros(columns)  # _squares: sums of squared deviations
        self._sample, self._seen = None, 0

    @property
    def deviations(self):
        """Standard deviations; 1 for a constant column."""
        found = numpy.sqrt(self._squares / numpy.maximum(self.known, 1))
        return numpy.where(found > 1e-12 * numpy.maximum(1, numpy.abs(self.means)), found, 1.0)

    @property
    def base_rate(self):
        """The share of positive labels."""
        return self.positives / self.rows

    def add(self, rows, limit, random):
        """Adds Rows. limit: how many rows the sample for quantiles has at most."""
        self.rows += len(rows)
        self.positives += int(rows.labels.sum())
        values = rows.numbers.astype(numpy.float64)
        is_known = ~numpy.isnan(values)
        known = is_known.sum(0)
        filled = numpy.where(is_known, values, 0)
        means = filled.sum(0) / numpy.maximum(known, 1)
        self._merge(known, means, (numpy.where(is_known, values - means, 0) ** 2).sum(0))
        self._add_to_sample(rows.numbers, limit, random)

    def _merge(self, known, means, squares):
        """The mean and the squares of a union: Chan, Golub and LeVeque, Updating Formulae, 1979."""
        total = numpy.maximum(self.known + known, 1)
        change = means - self.means
        self._squares += squares + change ** 2 * self.known * known / total
        self.means = self.means + change * known / total
        self.known = self.known + known

    def _add_to_sample(self, numbers, limit, random):
        """Reservoir sampling, by rows."""
        if self._sample is None:
            self._sample = numpy.empty((0, numbers.shape[1]), numpy.float32)
        room = max(0, limit - len(self._sample))
        self._sample = numpy.concatenate([self._sample, numbers[:room]])
        self._seen += min(room, len(numbers))
        rest = numbers[room:]
        if len(rest):
            places = random.integers(0, self._seen + 1 + numpy.arange(len(rest)))
            inside = places < limit
            self._sample[places[inside]] = rest[inside]
            self._seen += len(rest)

    def merged(self, others):
        """Adds those of other ranks."""
        for other in others:
            self.rows += other.rows
            self.positives += other.positives
            self._merge(other.known, other.means, other._squares)
            if other._sample is not None:
                self._sample = other._sample if self._sample is None else numpy.concatenate([self._sample, other._sample])
        return self

    def edges(self, bins):
        """By numeric column the bounds between at most this many bins: float32, ascending. A value that has the share 1/bins of the rows
        or more has a bin of its own, as have all values if there are not more than bins; the others have bins with as many rows each."""
        found = []
        for column in range(len(self.known)):
            values = self._sample[:, column] if self._sample is not None else numpy.empty(0, numpy.float32)
            values, counts = numpy.unique(values[~numpy.isnan(values)], return_counts=True)
            found.append(_edges(values, counts, bins) if bins > 1 else numpy.empty(0, numpy.float32))
        return found


def _edges(values, counts, bins):
    """values: distinct, ascending."""
    if len(values) <= bins:
        return values[1:]
    frequent = counts * bins >= counts.sum()
    share = max(1, numpy.where(frequent, 0, counts).sum() / max(1, bins - frequent.sum()))
    starts, filled = [], 0
    for at in range(1, len(values)):
        filled += 0 if frequent[at - 1] else counts[at - 1]
        if frequent[at] or frequent[at - 1] or filled >= share:
            starts.append(at)
            filled = 0
    return values[starts]


def gather_statistics(world, files, row_limit, seed):
    """Collective, between phases. The DataStatistics of the first row_limit rows of all parts together (0: all rows), equal on every
    rank. A worker of each rank reads one part. Raises ApplicationError for files without rows, or with rows of one label only."""
    def read():
        found = DataStatistics(len(files.features.numeric))
        random = numpy.random.default_rng([seed, world.rank])
        for rows in files.pieces(world.rank, world.size):
            if row_limit:
                rows = rows.take(numpy.arange(min(len(rows), max(0, -(-row_limit // world.size) - found.rows))))
            if not len(rows):
                break
            found.add(rows, -(-_SAMPLE // world.size), random)
        return found
    of_ranks = world.allgather(on_every_rank(world, read))
    statistics = of_ranks[0].merged(of_ranks[1:])
    if statistics.rows == 0:
        raise ApplicationError(f"{', '.join(files.paths)}: no rows to train")
    if statistics.positives in (0, statistics.rows):
        raise ApplicationError(f"{', '.join(files.paths)}: all {statistics.rows} labels are "
                               f"{'negative' if statistics.positives == 0 else 'positive'}: expected both")
    return statistics
