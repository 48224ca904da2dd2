"""Shares of nodes whose class is predicted."""
import numpy
import torch

from .data import TEST, TRAIN, VALID

_USES = {"train": TRAIN, "valid": VALID, "test": TEST}
_BATCH = 512  # nodes at least


class Evaluation:
    """Of one worker: its nodes of each use. limits: of the neighbours in each layer."""

    def __init__(self, maker, data, own_nodes, limits, batch, seed):
        self._maker, self._data, self._limits, self._seed = maker, data, limits, seed
        self._own_nodes, self._batch = own_nodes, max(batch, _BATCH)

    def counts(self, model):
        """For train, valid and test: [nodes whose class is predicted, nodes]; as one array, to be summed over workers."""
        counts = []
        for use in _USES.values():
            nodes = self._own_nodes[self._data.uses[self._own_nodes] == use]
            predicted = self.predict(model, nodes)
            counts += [int((predicted == self._data.classes[nodes]).sum()), len(nodes)]
        return numpy.array(counts, numpy.float64)

    def predict(self, model, nodes):
        """The class of each node."""
        model.eval()
        found = [numpy.zeros(0, numpy.int64)]
        with torch.no_grad():
            for begin in range(0, len(nodes), self._batch):
                batch = self._maker.make(nodes[begin:begin + self._batch], self._limits, self._seed)
                found.append(model(batch).argmax(1).numpy())
        model.train()
        return numpy.concatenate(found)


def accuracies(counts):
    """{"train_accuracy", "valid_accuracy", "test_accuracy"} of summed counts; None where there are no nodes."""
    shares = [float(right / nodes) if nodes else None for right, nodes in counts.reshape(-1, 2)]
    return {f"{name}_accuracy": share for name, share in zip(_USES, shares)}
