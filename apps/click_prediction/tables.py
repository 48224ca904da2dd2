"""The tables of the model."""
import lapse.torch as lt

from torch_common.manager_options import table_options
from torch_common.seeds import seed_of


class Tables:
    """Weights of ids for the wide part, embeddings for the deep part. Made between phases; collective.

    hash_buckets: the number of ids, or 0: any id of 63 bits; a row then exists from its first change on. The embedding of an id that was
    never trained is its initial value, which depends on the id and the seed; its weight is 0.
    """

    def __init__(self, ctx, options, hash_buckets):
        keys = hash_buckets or None
        common = {"rule": options.rule, **table_options(options)}
        self._ctx = ctx
        self.wide = lt.Embedding(ctx, "wide", keys, 1, initial=0.0, learning_rate=options.wide_rate, **common)
        self.deep = lt.Embedding(ctx, "deep", keys, options.dim, initial=("normal", 0.0, options.initial_scale),
                                 learning_rate=options.deep_rate, seed=seed_of(options.seed, "embeddings"), **common)
        self._modules = (self.wide, self.deep)

    def rows(self, batch):
        """(wide rows (ids, 1), deep rows (ids, dim)) of a Batch. They are read only outside of training()."""
        return self._ctx.lookup((self.wide, batch.wide_ids), (self.deep, batch.deep_ids))

    def train(self, on):
        """Whether rows that are looked up from now on will learn."""
        for module in self._modules:
            module.train(on)

    def keys_of(self):
        """For an IntentLoader."""
        return {self.wide: lambda batch: batch.wide_ids, self.deep: lambda batch: batch.deep_ids}
