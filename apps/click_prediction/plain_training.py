"""Trains the model in plain PyTorch, in one process."""
import time

import torch

from torch_common.measured_phase import PhaseCost
from torch_common.seeds import seed_of

from .batch_source import BatchSource, in_order
from .model import WideAndDeep, loss_of
from .plain_tables import PlainTables, distinct_ids
from .predictions import Predictions, quality_of

_AT_ONCE = 4096


class PlainTrainer:
    """Has the methods and attributes of a Trainer that a program without a manager needs."""

    def __init__(self, world, problem, options):
        self._world, self._problem, self._options = world, problem, options
        self._source = BatchSource(problem.train, problem.encoder, 0, 1, options.batch, options.shuffle, options.seed)
        torch.manual_seed(seed_of(options.seed, "dense"))
        self._tables = PlainTables(distinct_ids(self._source), options.dim, options.initial_scale, options.rule, options.wide_rate,
                                   options.deep_rate)
        torch.manual_seed(seed_of(options.seed, "dense"))
        self._model = WideAndDeep(self._tables, problem.encoder, options.dim, options.hidden, options.dropout, problem.bias)
        self._optimizer = torch.optim.Adam(self._model.parameters(), lr=options.rate, weight_decay=options.weight_decay)
        self.history, self.cost, self.epochs = [], PhaseCost(), 0

    def run(self):
        """Trains an epoch."""
        self._model.train()
        factor = self._options.decay ** self.epochs
        for group in self._optimizer.param_groups:
            group["lr"] = self._options.rate * factor
        self._tables.set_factor(factor)
        loss_sum = samples = 0
        begin = time.monotonic()
        for number, batch in enumerate(self._source.epoch(self.epochs + 1)):
            torch.manual_seed(seed_of(self._options.seed, self.epochs, 0, number))
            loss = loss_of(self._model(batch), batch)
            loss.backward()
            self._tables.step()
            self._optimizer.step()
            self._optimizer.zero_grad()
            loss_sum, samples = loss_sum + loss.item() * len(batch), samples + len(batch)
        seconds = time.monotonic() - begin
        self.epochs += 1
        self.cost += PhaseCost(seconds)
        self.history.append({"epoch": self.epochs, "loss": loss_sum / samples, "seconds": seconds, "samples": samples})
        return True

    def predict(self, numbered=False):
        """As Trainer.predict."""
        found = Predictions()
        self._model.eval()
        with torch.no_grad():
            for number, file in enumerate(self._problem.test.single_files()):
                for batch, rows in in_order(file, self._problem.encoder, 0, 1, _AT_ONCE, numbered):
                    found.add(self._model(batch).numpy(), rows, number if numbered else None)
        return found.gathered(self._world)

    def evaluate(self):
        """As Trainer.evaluate."""
        return quality_of(*self.predict()[:2], self._problem.base_rate)
