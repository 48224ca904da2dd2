"""The modules whose rows are the parameters of the first layer: in tables, or as torch.nn.Embedding."""
import torch

import lapse.torch as lt
from torch_common.manager_options import table_options
from torch_common.seeds import seed_of

from .model import GraphNetwork, feature_bound, matrices_of

_OPTIMIZERS = {"adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}
_SPARSE_OPTIMIZERS = {**_OPTIMIZERS, "adam": torch.optim.SparseAdam}


def make_model(options, data, make_rows):
    """make_rows(name, rows, length, bound): a module with rows that are uniform in [-bound, bound)."""
    feature_rows = node_rows = None
    if options.inputs != "learned":
        bound = feature_bound(data.features.count, options.hidden, options.model)
        feature_rows = make_rows("features", data.features.count, matrices_of(options.model) * options.hidden, bound)
    if options.inputs != "given":
        node_rows = make_rows("nodes", data.graph.nodes, options.dim, options.initial_scale)
    torch.manual_seed(seed_of(options.seed, "model"))
    return GraphNetwork(options.model, feature_rows, node_rows, options.dim, options.hidden, data.class_count, options.dropout)


def dense_optimizer(options, parameters):
    """For the parameters of the layers."""
    return _OPTIMIZERS[options.optimizer](parameters, lr=options.rate)


def managed_rows(ctx, options):
    """make_rows for tables of a lapse.torch.Context. Collective."""
    def make(name, rows, length, bound):
        return lt.Embedding(ctx, name, rows, length, rule=options.optimizer, learning_rate=options.rate, l2=options.l2,
                            initial=("uniform", -bound, bound), seed=seed_of(options.seed, name), **table_options(options))
    return make


def plain_rows(options):
    """make_rows for one process without a manager, and the optimizers of the modules that it has made."""
    optimizers = []

    def make(name, rows, length, bound):
        module = torch.nn.Embedding(rows, length, sparse=True)
        random = torch.Generator().manual_seed(seed_of(options.seed, name))
        with torch.no_grad():
            module.weight.uniform_(-bound, bound, generator=random)
        optimizers.append(_SPARSE_OPTIMIZERS[options.optimizer]([module.weight], lr=options.rate))
        return module
    return make, optimizers
