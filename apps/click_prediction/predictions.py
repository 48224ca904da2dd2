"""Predictions of all ranks, their quality, and a file of them."""
import dataclasses

import numpy

from torch_common.program import write_result

from . import metrics


class Predictions:
    """What the workers of a rank have predicted: arrays of logits, labels (NaN for none), and with numbered the lines of the rows."""

    def __init__(self):
        self.parts = []
        self.unseen = self.ids = 0

    def add(self, logits, rows, file):
        """logits: float32 (n). file: the number of the file, or None."""
        self.parts.append((logits, rows.labels, None if file is None else numpy.stack([numpy.full(len(rows), file), rows.lines])))

    def gathered(self, world):
        """Collective. (logits, labels, places (2, n) or None) of all ranks on rank 0, None on the others."""
        of_ranks = world.gather(self.parts)
        if of_ranks is None:
            return None
        parts = [part for parts in of_ranks for part in parts]
        if not parts:
            return numpy.empty(0, numpy.float32), numpy.empty(0, numpy.float32), None
        logits, labels = (numpy.concatenate([part[at] for part in parts]) for at in (0, 1))
        places = None if parts[0][2] is None else numpy.concatenate([part[2] for part in parts], 1)
        return logits, labels, places


def quality_of(logits, labels, base_rate):
    """{name: value} of predictions with labels. base_log_loss: of the training's base rate as the prediction of all rows."""
    probabilities = metrics.sigmoid(logits)
    table = metrics.calibration(probabilities, labels)
    base = numpy.full(len(labels), numpy.log(base_rate / (1 - base_rate)))
    return {"samples": len(labels), "log_loss": metrics.log_loss(logits, labels), "base_log_loss": metrics.log_loss(base, labels),
            "auc": metrics.auc(logits, labels), "calibration_error": metrics.expected_calibration_error(table),
            "calibration": [dataclasses.asdict(row) for row in table]}


def write_predictions(world, path, files, gathered):
    """Collective. Writes a line for each row in the order of the files: file, line, label (empty for none), probability, by tabs."""
    text = ""
    if world.rank == 0:
        logits, labels, places = gathered
        lines = ["file\tline\tlabel\tprobability\n"]
        if len(logits):
            order = numpy.lexsort((places[1], places[0]))
            probabilities = metrics.sigmoid(logits)
            for at in order:
                label = "" if numpy.isnan(labels[at]) else f"{labels[at]:.0f}"
                lines.append(f"{files[places[0, at]]}\t{places[1, at]}\t{label}\t{probabilities[at]:.9g}\n")
        text = "".join(lines)
    write_result(world, path, text)
