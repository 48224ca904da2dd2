"""Training on a parameter manager."""
import copy

import numpy
import torch

import lapse.torch as lt
from torch_common.gradient_exchange import GradientExchange
from torch_common.manager_options import technique_of
from torch_common.measured_phase import PhaseCost, run_measured
from torch_common.seeds import seed_of

from .batches import BatchMaker, EpochBatches
from .data import TRAIN
from .evaluation import Evaluation, accuracies
from .history import History, mean_loss
from .tables import dense_optimizer, make_model, managed_rows

_LOCALIZE_AHEAD = 4  # batches, as in the other applications


class _Worker:
    """What a worker has from phase to phase. Its model is a copy, whose modules share their tables."""

    def __init__(self, trainer, index, first_epoch):
        options, data, partition = trainer.options, trainer.data, trainer.partition
        self.model = copy.deepcopy(trainer.model)
        self.model.dropout.random = torch.Generator()
        self.optimizer = dense_optimizer(options, self.model.parameters())
        maker = BatchMaker(data, options.model)
        self.seed = seed_of(options.seed, "worker", index)
        own = partition.nodes_of(index, numpy.arange(data.graph.nodes))
        self.own_nodes = own
        trained = own[data.uses[own] == TRAIN]
        self.batches = EpochBatches(maker, trained, options.batch, options.neighbours, self.seed, first_epoch)
        keys = {}
        if self.model.feature_rows is not None:
            keys[self.model.feature_rows] = lambda batch: batch.feature_ids
        if self.model.node_rows is not None:
            keys[self.model.node_rows] = lambda batch: batch.nodes
        localizes = technique_of(options) == "localize"
        ahead = min(options.lookahead, _LOCALIZE_AHEAD) if localizes else options.lookahead
        self.loader = lt.IntentLoader(trainer.ctx, self.batches, keys, ahead, epochs=options.epochs - first_epoch + 1,
                                      localize=localizes)
        self.evaluation = Evaluation(maker, data, own, options.evaluation_neighbours, options.batch,
                                     seed_of(options.seed, "evaluation"))


class Trainer:
    """One object on each rank. Collective, between phases.

    job: a torch_common.training_job.TrainingJob. report: called with a line of text after each epoch.
    """

    def __init__(self, ctx, world, options, data, partition, job, report):
        self.ctx, self.world, self.options, self.data, self.partition = ctx, world, options, data, partition
        self._job, self._report = job, report
        self.model = make_model(options, data, managed_rows(ctx, options))
        self.dense = None
        if options.dense == "table":
            self.dense = lt.DenseParameters(ctx, "dense", self.model, rule=options.optimizer, learning_rate=options.rate)
        workers = world.size * options.workers
        # Workers average gradients equally often: those with fewer batches take part without.
        self._steps = max(partition.batches_of(data.nodes_of(TRAIN), workers, options.batch))
        self.history, self.cost = History(), PhaseCost()
        self._losses = {}
        self._workers = {}
        self._clocks = 0

    def run(self, identity):
        """Trains, from a checkpoint if there is one. False: the job has stopped early. identity: of TrainingJob.begin.

        Raises ApplicationError if the training diverges."""
        state = self._job.begin(identity)
        if state is not None:
            self.history, self.cost, self._clocks = History(state["history"]), PhaseCost(**state["cost"]), state["clocks"]
        first = len(self.history.epochs) + 1
        self._job.set_progress(first - 1, self._clocks)
        self.ctx.run(self.options.workers, lambda worker: self._prepare(worker, first, state))
        for epoch in range(first, self.options.epochs + 1):
            self._train_epoch(epoch)
            if self._job.pause(epoch, self._clocks, self._state):
                return False
        self._job.finish(self.options.epochs, self._clocks, self._state)
        return True

    def predictions(self):
        """The class that is predicted for each node. Collective."""
        found = numpy.zeros(self.data.graph.nodes, numpy.int64)

        def predict(worker):
            own = self._workers[worker.local_index]
            self._pull(own)
            found[own.own_nodes] = own.evaluation.predict(own.model, own.own_nodes)
        self.ctx.run(self.options.workers, predict)
        return self.world.allreduce(found)  # Others have 0 for the nodes of this rank.

    def _prepare(self, worker, first_epoch, state):
        own = self._workers[worker.local_index] = _Worker(self, worker.index, first_epoch)
        if state is not None and self.dense is None:
            own.model.load_state_dict(state["model"])
            own.optimizer.load_state_dict(state["optimizer"])
        if self.dense is not None and state is None and worker.index == 0:
            self.dense.initialise(own.model)

    def _train_epoch(self, epoch):
        cost = run_measured(self.ctx, self.world, self.options.workers, f"epoch {epoch}", lambda worker: self._train(worker, epoch))
        self.cost += cost
        self._clocks += self._steps
        loss = mean_loss(self.world.allreduce(sum(self._losses.values())), epoch, self.options.rate)
        found = {}
        if epoch % self.options.evaluate_every == 0 or epoch == self.options.epochs:
            found = self._evaluate()
        self.history.add(epoch, cost.seconds, loss, found)
        self._report(self.history.text_of_last())

    def _train(self, worker, epoch):
        own = self._workers[worker.local_index]
        own.model.dropout.random.manual_seed(seed_of(own.seed, "dropout", epoch))
        losses = numpy.zeros(2)
        if self.dense is not None:
            self.dense.announce(worker.clock, worker.clock + len(own.batches))
        exchange = GradientExchange(worker, own.model)
        for batch in own.loader:
            self._pull(own)
            loss = torch.nn.functional.cross_entropy(own.model(batch), batch.labels)
            loss.backward()
            self._step(own, exchange, batch.seeds)
            losses += float(loss) * batch.seeds, batch.seeds
        for _ in range(self._steps - len(own.batches)):
            self._step(own, exchange, 0)
        self._losses[worker.local_index] = losses

    def _pull(self, own):
        if self.dense is not None:
            self.dense.pull(own.model)

    def _step(self, own, exchange, weight):
        if self.dense is None:
            total, _, _ = exchange.exchange(weight, True, False)
            if total:
                own.optimizer.step()
        elif weight:
            self.dense.push(own.model)
        own.optimizer.zero_grad()
        if weight:
            self.ctx.step()

    def _evaluate(self):
        counts = {}

        def evaluate(worker):
            own = self._workers[worker.local_index]
            self._pull(own)
            counts[worker.local_index] = own.evaluation.counts(own.model)
        self.ctx.run(self.options.workers, evaluate)
        return accuracies(self.world.allreduce(sum(counts.values())))

    def _state(self):
        own = self._workers[0]
        dense = {} if self.dense is not None else {"model": own.model.state_dict(), "optimizer": own.optimizer.state_dict()}
        return {"history": self.history.epochs, "cost": self.cost.state(), "clocks": self._clocks, **dense}
