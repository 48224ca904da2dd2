"""Negative samples that the manager draws."""
import torch


class Negatives:
    """Ids of a module that are drawn for each batch, where the manager likes it: it prefers rows that are here. Made between
    phases; collective.

    module: an Embedding. count: of each batch. distribution and further arguments: of lapse.Manager.create_sampler.
    """

    def __init__(self, module, count, distribution=None, **named):
        self.module, self.count = module, count
        self.sampler = module.context.manager.create_sampler(module.table, distribution, **named)
        self._sample = None

    def prepare(self, clock):
        """IntentLoader calls it."""
        return self.module.context.worker.prepare_sample(self.sampler, self.count, clock, clock + 1)

    def use(self, sample):
        """IntentLoader calls it."""
        self._sample = sample

    def __call__(self):
        """The ids for this batch, and their rows, which learn like those of a lookup."""
        worker = self.module.context.worker
        sample = self._sample if self._sample is not None else self.prepare(worker.clock)
        self._sample = None
        keys = torch.from_numpy(worker.take_keys(sample, self.count).astype("int64"))
        return keys, self.module(keys)
