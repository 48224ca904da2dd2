"""How good predicted probabilities are."""
import dataclasses
import math

import numpy


def sigmoid(logits):
    """Probabilities of logits, float64."""
    return 1 / (1 + numpy.exp(-numpy.clip(logits.astype(numpy.float64), -700, 700)))


def log_loss(logits, labels):
    """The mean of -ln p(label), from logits. NaN without samples."""
    if not len(logits):
        return math.nan
    logits = logits.astype(numpy.float64)
    return float(numpy.mean(numpy.logaddexp(0, logits) - labels * logits))


def entropy(rate):
    """The log loss of the constant prediction `rate` where it is the share of positive labels."""
    return 0.0 if rate in (0, 1) else -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)


def auc(logits, labels):
    """The probability that a positive sample has a larger logit than a negative one, ties counting half. NaN with one label only."""
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if positives == 0 or negatives == 0:
        return math.nan
    _, places, counts = numpy.unique(logits, return_inverse=True, return_counts=True)
    ends = numpy.cumsum(counts)
    ranks = ends - (counts - 1) / 2  # mean rank of equal logits, from 1
    return float((ranks[places][labels > 0].sum() - positives * (positives + 1) / 2) / (positives * negatives))


@dataclasses.dataclass
class CalibrationBin:
    """Samples with similar probabilities: how many, the mean probability, and the share of positive labels."""
    samples: int
    predicted: float
    observed: float


def calibration(probabilities, labels, bins=10):
    """CalibrationBins with as many samples each, by ascending probability; equal probabilities may be in two of them."""
    order = numpy.argsort(probabilities, kind="stable")
    return [CalibrationBin(len(part), float(probabilities[part].mean()), float(labels[part].mean()))
            for part in numpy.array_split(order, bins) if len(part)]


def expected_calibration_error(table):
    """The mean of |predicted - observed| over the samples: Naeini, Cooper and Hauskrecht, AAAI 2015, here with bins of equal size."""
    samples = sum(row.samples for row in table)
    return sum(row.samples * abs(row.predicted - row.observed) for row in table) / samples if samples else math.nan
