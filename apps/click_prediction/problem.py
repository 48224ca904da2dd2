"""What is trained and tested: data, and what the model needs to know of them."""
import math

from torch_common.errors import on_every_rank

from .batch_encoder import BatchEncoder
from .data_statistics import gather_statistics
from .sample_files import SampleFiles, Split
from .schema import Features, Schema


class Problem:
    """Attributes: schema; features; encoder; train, test: SampleFiles, or None; rows, base_rate: of the training data; bias: the logit of
    the base rate."""

    def __init__(self, schema, features, options):
        self.schema, self.features = schema, features
        self.encoder = BatchEncoder(features, schema.hash_buckets, options.bins > 1, options.bin_embeddings)
        self.train = self.test = None

    def set_known(self, known):
        """known: what the first pass over the training data has found."""
        self._known = known
        self.rows, self.base_rate = known["rows"], known["base_rate"]
        self.bias = math.log(self.base_rate / (1 - self.base_rate))
        self.encoder.set_statistics(known["means"], known["deviations"], known["edges"])

    def state(self):
        """For a checkpoint: what restore and saved_problem take."""
        features = {name: getattr(self.features, name) for name in Features.__dataclass_fields__}
        return {"schema": self.schema.text, "schema_path": self.schema.path, "features": features, "known": self._known}

    def restore(self, state):
        """Uses the statistics of a checkpoint."""
        self.set_known(state["known"])


def read_problem(world, options):
    """Collective. The Problem of the options. Raises ApplicationError."""
    problem = on_every_rank(world, lambda: _opened(options))
    found = gather_statistics(world, problem.train, options.statistics_rows, options.seed)
    problem.set_known({"rows": found.rows, "base_rate": found.base_rate, "means": found.means.tolist(),
                       "deviations": found.deviations.tolist(), "edges": [edges.tolist() for edges in found.edges(options.bins)]})
    return problem


def _opened(options):
    schema = Schema(options.schema)
    share = options.test_fraction

    def side(inside):
        return Split(share, options.test_seed, inside) if share else None
    train = SampleFiles(schema, options.files, keep=side(False))
    problem = Problem(schema, train.features, options)
    problem.train = train
    if options.test or share:
        problem.test = SampleFiles(schema, options.test or options.files, train.features, keep=side(True))
    return problem


def saved_problem(world, options, state, path):
    """Collective. The Problem of a checkpoint's state, which predicts the rows of a file. Raises ApplicationError."""
    def opened():
        schema = Schema(state["schema_path"], state["schema"])
        problem = Problem(schema, Features(**state["features"]), options)
        problem.set_known(state["known"])
        problem.test = SampleFiles(schema, [path], problem.features, needs_label=False)
        return problem
    return on_every_rank(world, opened)
