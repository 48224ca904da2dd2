"""Trains the model with the workers of all ranks."""
import copy

import torch

import lapse.torch as lt

from torch_common.errors import ApplicationError
from torch_common.gradient_exchange import GradientExchange
from torch_common.localized_batches import AHEAD, localized
from torch_common.manager_options import technique_of
from torch_common.measured_phase import PhaseCost, run_measured
from torch_common.seeds import seed_of

from .batch_source import BatchSource, in_order
from .model import WideAndDeep, loss_of
from .predictions import Predictions, quality_of
from .tables import Tables

_AT_ONCE = 4096  # rows of a batch of predictions
_ALWAYS = 2**40  # clocks


class Trainer:
    """One object on each rank; all calls are collective and between phases. Attributes: tables; history, a dict for each epoch; cost, the
    PhaseCost of all epochs; clocks, of the worker with the most; epochs, that are done; workers, of all ranks."""

    def __init__(self, ctx, world, problem, options, job):
        self._ctx, self._world, self._problem, self._options, self._job = ctx, world, problem, options, job
        self.tables = Tables(ctx, options, problem.schema.hash_buckets)
        self._copies = [self._model() for _ in range(options.workers)]
        self._dense = None
        if options.dense == "table":
            self._dense = lt.DenseParameters(ctx, "dense", self._copies[0], rule="adam", learning_rate=options.rate)
        self._optimizers = [torch.optim.Adam(model.parameters(), lr=options.rate, weight_decay=options.weight_decay)
                            for model in self._copies]
        self.workers = world.allreduce(options.workers)  # of all ranks
        self._first = sum(world.allgather(options.workers)[:world.rank])  # index of this rank's first worker
        self._batch = max(1, options.batch // self.workers)
        self._sources = []
        if problem.train is not None:
            self._sources = [BatchSource(problem.train, problem.encoder, self._first + at, self.workers, self._batch, options.shuffle,
                                         options.seed) for at in range(options.workers)]
        self.history, self.cost, self.clocks, self.epochs = [], PhaseCost(), 0, 0
        self._epoch_cost, self._positions = PhaseCost(), [0] * options.workers  # batches of the epoch that the workers have done
        self._sums = [(0.0, 0)] * options.workers  # loss and samples of the epoch
        self._is_new = True

    def _model(self):
        """With the same initial values on all workers."""
        options = self._options
        torch.manual_seed(seed_of(options.seed, "dense"))
        return WideAndDeep(self.tables, self._problem.encoder, options.dim, options.hidden, options.dropout, self._problem.bias)

    # --- state

    def state(self):
        """For a checkpoint; on every rank, complete on rank 0."""
        of_ranks = self._world.allgather((self._positions, self._sums))
        return {"epochs": self.epochs, "clocks": self.clocks, "history": self.history, "cost": self.cost.state(),
                "epoch_cost": self._epoch_cost.state(), "positions": [at for positions, _ in of_ranks for at in positions],
                "batch": self._batch, "sums": [pair for _, sums in of_ranks for pair in sums],
                "model": self._copies[0].state_dict(), "optimizer": self._optimizers[0].state_dict()}

    def restore(self, state):
        """Continues from a state, of any number of workers."""
        self.epochs, self.clocks, self.history = state["epochs"], state["clocks"], state["history"]
        self.cost, self._epoch_cost = PhaseCost(**state["cost"]), PhaseCost(**state["epoch_cost"])
        for model, optimizer in zip(self._copies, self._optimizers):
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        positions = state["positions"]
        if len(positions) == self.workers and state["batch"] == self._batch:
            own = slice(self._first, self._first + self._options.workers)
            self._positions, self._sums = positions[own], state["sums"][own]
        else:  # Each worker has done its share of what all had done.
            done = sum(positions) * state["batch"] // (self.workers * self._batch)
            self._positions = [done] * self._options.workers
            loss, samples = (sum(pair[at] for pair in state["sums"]) for at in (0, 1))
            self._sums = [(loss, samples) if self._world.rank == 0 and at == 0 else (0.0, 0) for at in range(self._options.workers)]
        self._is_new = False

    # --- training

    def run(self):
        """Trains until the end of the epoch, or until the job asks to leave. Returns whether the epoch is done."""
        cost = run_measured(self._ctx, self._world, self._options.workers, f"epoch {self.epochs + 1}", self._train)
        self._is_new = False
        self._epoch_cost += cost
        left, batches, sums = zip(*self._world.allgather((self._left, max(self._batches), self._sums)))
        self.clocks += max(batches)
        loss, samples = (sum(pair[at] for of_rank in sums for pair in of_rank) for at in (0, 1))
        if any(left):
            return False
        self.epochs += 1
        mean = loss / samples
        self.history.append({"epoch": self.epochs, "loss": mean, "seconds": self._epoch_cost.seconds, "samples": samples})
        if not abs(mean) < 1e6:
            raise ApplicationError(f"training diverged in epoch {self.epochs}: the loss is {mean}: choose smaller learning rates")
        self.cost += self._epoch_cost
        self._epoch_cost, self._positions = PhaseCost(), [0] * self._options.workers
        self._sums = [(0.0, 0)] * self._options.workers
        return True

    _left = property(lambda self: any(self._leaves))

    def _train(self, worker):
        at = worker.local_index
        if at == 0:
            self._leaves, self._batches = [False] * self._options.workers, [0] * self._options.workers
            self.tables.train(True)
        worker.barrier()
        self._copies[at].train()
        batches, ahead = self._sources[at].epoch(self.epochs + 1, self._positions[at]), self._options.lookahead
        if technique_of(self._options) == "localize":
            batches, ahead = localized(worker, batches, self.tables.keys_of()), AHEAD
        loader = lt.IntentLoader(self._ctx, batches, self.tables.keys_of(), ahead, epochs=1)
        if self._dense is None:
            self._train_averaging(worker, at, loader)
        else:
            self._train_in_table(worker, at, loader)

    def _train_averaging(self, worker, at, loader):
        model, optimizer = self._copies[at], self._optimizers[at]
        exchange = GradientExchange(worker, model)
        for group in optimizer.param_groups:
            group["lr"] = self._options.rate * self._factor()
        batches = iter(loader)
        while True:
            batch = next(batches, None)
            size = 0
            if batch is not None:
                size = len(batch)
                self._learn(worker, at, model, batch)
                self._ctx.step(self._factor())
            total, active, leave = exchange.exchange(size, batch is not None, self._job.shall_leave(self._batches[at]))
            if total:
                optimizer.step()
            optimizer.zero_grad()
            if not active or leave:
                self._leaves[at] = active
                break
        batches.close()

    def _train_in_table(self, worker, at, loader):
        model = self._copies[at]
        if self._is_new:
            if worker.index == 0:
                self._dense.initialise(model)
            worker.sync_barrier()
        self._dense.scale = self._factor()
        self._dense.announce(worker.clock, worker.clock + _ALWAYS)
        for batch in loader:
            self._dense.pull(model)
            self._learn(worker, at, model, batch)
            self._dense.push(model)
            self._ctx.step(self._factor())
            model.zero_grad()
            if self._job.shall_leave(self._batches[at]):
                self._leaves[at] = True
                break

    def _learn(self, worker, at, model, batch):
        """Forward and backward."""
        torch.manual_seed(seed_of(self._options.seed, self.epochs, worker.index, self._positions[at]))  # of dropout
        loss = loss_of(model(batch), batch)
        loss.backward()
        sums = self._sums[at]
        self._sums[at] = (sums[0] + loss.item() * len(batch), sums[1] + len(batch))
        self._batches[at] += 1
        self._positions[at] += 1

    def _factor(self):
        return self._options.decay ** self.epochs

    # --- predictions

    def predict(self, numbered=False):
        """The gathered Predictions of the problem's test rows on rank 0, None on the others. numbered: with the rows' places."""
        found = Predictions()
        self._ctx.run(self._options.workers, lambda worker: self._predict(worker, found, numbered))
        return found.gathered(self._world)

    def evaluate(self):
        """The quality of predictions of the test rows, on every rank."""
        gathered = self.predict()
        quality = None if gathered is None else quality_of(*gathered[:2], self._problem.base_rate)
        return self._world.bcast(quality)

    def _predict(self, worker, found, numbered):
        at = worker.local_index
        model = self._copies[at]
        if at == 0:
            self.tables.train(False)
        worker.barrier()
        model.eval()
        if self._dense is not None and not self._is_new:
            self._dense.pull(model)
        with torch.no_grad():
            for number, file in enumerate(self._problem.test.single_files()):
                for batch, rows in in_order(file, self._problem.encoder, worker.index, worker.count, _AT_ONCE, numbered):
                    found.add(model(batch).numpy(), rows, number if numbered else None)
