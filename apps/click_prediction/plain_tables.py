"""The tables of the model in plain PyTorch, in one process: for comparison."""
import numpy
import torch

_RULES = {"sgd": lambda parameters, rate: torch.optim.SGD(parameters, lr=rate),
          "adagrad": lambda parameters, rate: torch.optim.Adagrad(parameters, lr=rate),
          "adam": lambda parameters, rate: torch.optim.SparseAdam(parameters, lr=rate)}


def distinct_ids(source):
    """The ids of all batches of an epoch, for the wide and the deep part: arrays, ascending."""
    wide, deep = numpy.empty(0, numpy.int64), numpy.empty(0, numpy.int64)
    for batch in source.epoch(1):
        wide = numpy.union1d(wide, batch.wide_ids.numpy())
        deep = numpy.union1d(deep, batch.deep_ids.numpy())
    return wide, deep


class _PlainTable(torch.nn.Module):
    """An nn.Embedding for any ids: those that are not among the known ones share a row that is never trained."""

    def __init__(self, known, dim, deviation):
        super().__init__()
        self._known = known
        self.rows = torch.nn.Embedding(len(known) + 1, dim, padding_idx=len(known), sparse=True)
        torch.nn.init.normal_(self.rows.weight, std=deviation) if deviation else torch.nn.init.zeros_(self.rows.weight)
        with torch.no_grad():
            self.rows.weight[-1] = 0

    def forward(self, ids):
        places = numpy.searchsorted(self._known, ids.numpy())
        places[places == len(self._known)] = 0
        places = numpy.where(self._known[places] == ids.numpy(), places, len(self._known)) if len(self._known) else places
        return self.rows(torch.from_numpy(places))


class PlainTables(torch.nn.Module):
    """known: what distinct_ids returned. rule, rates: of the optimizer, for the wide and the deep part."""

    def __init__(self, known, dim, deviation, rule, wide_rate, deep_rate):
        super().__init__()
        self.wide, self.deep = _PlainTable(known[0], 1, 0), _PlainTable(known[1], dim, deviation)
        self._rates = (wide_rate, deep_rate)
        self._optimizers = [_RULES[rule](self.wide.parameters(), wide_rate), _RULES[rule](self.deep.parameters(), deep_rate)]

    def rows(self, batch):
        """(wide rows, deep rows) of a Batch."""
        return self.wide(batch.wide_ids), self.deep(batch.deep_ids)

    def set_factor(self, factor):
        """Of the learning rates."""
        for optimizer, rate in zip(self._optimizers, self._rates):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor

    def step(self):
        """Applies the gradients."""
        for optimizer in self._optimizers:
            optimizer.step()
            optimizer.zero_grad()
