"""Wide & Deep: Cheng et al., Wide & Deep Learning for Recommender Systems, DLRS 2016."""
import torch


class WideAndDeep(torch.nn.Module):
    """The logit of a sample: a sum of weights of its ids (wide), and dense layers on their embeddings and on its numbers (deep).

    tables: rows(batch) returns the wide rows (ids, 1) and the deep rows (ids, dim) of a Batch. It is not a part of the module: it has
    Parameters of its own, if any. encoder: a BatchEncoder. hidden: sizes of the dense layers. dropout: of their outputs. bias: the
    logit's initial value.
    """

    def __init__(self, tables, encoder, dim, hidden, dropout, bias):
        super().__init__()
        self.__dict__["tables"] = tables
        self._wide_width, self._deep_width, self._lists, self._dim = encoder.wide_width, encoder.deep_width, encoder.lists, dim
        width = (encoder.deep_width + encoder.lists) * dim + encoder.numbers
        layers = []
        for size in hidden:
            layers += [torch.nn.Linear(width, size), torch.nn.ReLU(), *([torch.nn.Dropout(dropout)] if dropout else [])]
            width = size
        self.dense = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))
        with torch.no_grad():
            self.dense[-1].weight.mul_(0.1)
            self.dense[-1].bias.fill_(bias)

    def forward(self, batch):
        """Logits (n) of a Batch."""
        count = len(batch)
        wide, deep = self.tables.rows(batch)
        singles = count * self._wide_width
        result = wide[:singles].reshape(count, self._wide_width).sum(1)
        columns = [deep[:count * self._deep_width].reshape(count, self._deep_width * self._dim)]
        if self._lists:
            slots = batch.list_slots
            result = result.index_add(0, slots // self._lists, wide[singles:, 0])
            pooled = torch.zeros(count * self._lists, self._dim).index_add(0, slots, deep[count * self._deep_width:])
            columns.append((pooled / batch.list_sizes.reshape(-1, 1)).reshape(count, self._lists * self._dim))
        return result + self.dense(torch.cat([*columns, batch.numbers], 1)).squeeze(1)


def loss_of(logits, batch):
    """The mean logistic loss of a Batch."""
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, batch.labels)
