"""The same training in one process, without a parameter manager."""
import time

import numpy
import torch

from torch_common.seeds import seed_of

from .batches import BatchMaker, EpochBatches
from .data import TRAIN
from .evaluation import Evaluation, accuracies
from .history import History, mean_loss
from .tables import dense_optimizer, make_model, plain_rows


class PlainTrainer:
    """The rows of tables are those of torch.nn.Embedding with sparse gradients. report: called with a line after each epoch."""

    def __init__(self, options, data, report):
        self._options, self._data, self._report = options, data, report
        make_rows, row_optimizers = plain_rows(options)
        self.model = make_model(options, data, make_rows)
        self.model.dropout.random = torch.Generator()
        of_rows = {id(module.weight) for module in self.model.modules() if isinstance(module, torch.nn.Embedding)}
        dense = [parameter for parameter in self.model.parameters() if id(parameter) not in of_rows]
        self._optimizers = [*row_optimizers, dense_optimizer(options, dense)]
        maker = BatchMaker(data, options.model)
        self._seed = seed_of(options.seed, "worker", 0)
        self._batches = EpochBatches(maker, data.nodes_of(TRAIN), options.batch, options.neighbours, self._seed, 1)
        self._nodes = numpy.arange(data.graph.nodes)
        self._evaluation = Evaluation(maker, data, self._nodes, options.evaluation_neighbours, options.batch,
                                      seed_of(options.seed, "evaluation"))
        self.history = History()

    def run(self):
        """Trains. Raises ApplicationError if the training diverges."""
        for epoch in range(1, self._options.epochs + 1):
            self.model.dropout.random.manual_seed(seed_of(self._seed, "dropout", epoch))
            begin = time.monotonic()
            losses = numpy.sum([self._train(batch) for batch in self._batches], axis=0)
            seconds = time.monotonic() - begin
            loss = mean_loss(losses, epoch, self._options.rate)
            found = {}
            if epoch % self._options.evaluate_every == 0 or epoch == self._options.epochs:
                found = accuracies(self._evaluation.counts(self.model))
            self.history.add(epoch, seconds, loss, found)
            self._report(self.history.text_of_last())

    def predictions(self):
        """The class that is predicted for each node."""
        return self._evaluation.predict(self.model, self._nodes)

    def _train(self, batch):
        seen = []
        loss = torch.nn.functional.cross_entropy(self.model(batch, seen.append), batch.labels)
        # What the table's rule does with its l2: the gradient of each row that is seen gets l2 times the row.
        penalty = sum(rows.pow(2).sum() for rows in seen) * (self._options.l2 / 2)
        (loss + penalty).backward()
        for optimizer in self._optimizers:
            optimizer.step()
            optimizer.zero_grad()
        return float(loss) * batch.seeds, batch.seeds
