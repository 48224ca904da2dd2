"""The command line."""
import lapse_graph

from torch_common.checkpoint_options import add_checkpoint_options
from torch_common.command_line import CommandLine
from torch_common.errors import OptionError
from torch_common.manager_options import add_manager_options
from torch_common.option_values import choice, file_name, integer, integers, number
from torch_common.training_options import add_training_options

ALL = None  # neighbours


def _neighbours(text):
    """A limit for each of the two layers, from the input on: (16, 16) of "16" or "16,16"; ALL of "all"."""
    if text == "all":
        return (ALL, ALL)
    limits = integers(1)(text)
    return limits * 2 if len(limits) == 1 else limits


def command_line():
    """The options, their defaults and meanings."""
    line = CommandLine("Classifies the nodes of a graph by a graph network of two layers, whose node embeddings or feature weights "
                       "are in a table of the parameter manager.")
    line.add("nodes", file_name, None, "Nodes in the format of LibSVM: a line `class feature:value ...` for each; class -1: "
             "unknown", metavar="FILE")
    line.add("edges", file_name, None, "Edges: lines of two numbers of nodes, from 0", metavar="FILE")
    line.add("split", file_name, None, "A line for each node: train, valid, test or none", metavar="FILE")
    line.add("model", choice("gcn", "sage"), "gcn", "gcn: graph convolution; sage: GraphSAGE with means", metavar="NAME")
    line.add("inputs", choice("learned", "given", "both"), "learned",
             "What a node is to the first layer: a learned embedding, its given features, or both", metavar="NAME")
    learned = ("--inputs learned or both", lambda options: options.inputs != "given")
    given = ("--inputs given or both", lambda options: options.inputs != "learned")
    line.add("dim", integer(1, 2**16), 64, "Numbers of an embedding", metavar="N", needs=learned)
    line.add("initial-scale", number(0, above=True), 0.1, "Embeddings start uniform in [-scale, scale)", metavar="SCALE",
             needs=learned)
    line.add("feature-norm", choice("l1", "none"), "l1", "l1: a node's features are divided by the sum of their absolute values",
             metavar="NAME", needs=given)
    line.add("hidden", integer(1, 2**16), 64, "Outputs of the first layer", metavar="N")
    line.add("neighbours", _neighbours, (16, 16), "Neighbours that are sampled for a node in each layer, such as 16, or from the "
             "input on 10,25; all: no sampling", metavar="N")
    line.add("evaluation-neighbours", _neighbours, (ALL, ALL), "The same for evaluations (default: all)", metavar="N")
    line.add("dropout", number(0, 0.99), 0.5, "Share of the inputs of each layer that is set to zero in training", metavar="P")
    line.add("optimizer", choice("adam", "adagrad", "sgd"), "adagrad", "Of tables and dense parameters", metavar="NAME")
    line.add("rate", number(0, above=True), 0.05, "Learning rate", metavar="RATE")
    line.add("l2", number(0), 0.0, "L2 regularization of the rows of tables", metavar="L2")
    line.add("batch", integer(1), 32, "Nodes of a batch", metavar="N")
    line.add("dense", choice("average", "table"), "average",
             "Parameters of the layers: average: workers average their gradients of each batch; table: they are in a table, "
             "and no worker waits for another one", metavar="NAME")
    line.add("partition", choice("metis", "random", "range"), "metis" if lapse_graph.has_metis() else "random",
             "Which worker trains which nodes: metis: parts with few edges between them", metavar="NAME")
    line.add("evaluate-every", integer(1), 1, "Epochs between evaluations; the last epoch is evaluated, too", metavar="N")
    line.add("output", file_name, None, "Write the class that is predicted for each node to this file, a line each", metavar="FILE")
    line.add_flag("plain", "Train with torch.nn.Embedding in one process, without a parameter manager: for comparison")
    add_training_options(line, epochs=10, lookahead=20)
    add_manager_options(line)
    add_checkpoint_options(line)
    return line


_MANAGED = ("technique", "consistency", "set", "dense", "partition", "lookahead", "workers", "checkpoint_dir")


def check(options):
    """Raises OptionError for options that do not fit each other."""
    for name in ("nodes", "edges", "split"):
        if getattr(options, name) is None:
            raise OptionError(f"--{name} is missing: the name of a file")
    for name in ("neighbours", "evaluation_neighbours"):
        if len(getattr(options, name)) != 2:
            raise OptionError(f"--{name.replace('_', '-')} has {len(getattr(options, name))} numbers: expected one, or one for each "
                              "of 2 layers")
    if options.partition == "metis" and not lapse_graph.has_metis():
        raise OptionError("--partition metis: METIS was not found when this was built (libmetis-dev): expected random or range")
    for name in _MANAGED:
        if options.plain and name in options.given:
            raise OptionError(f"--{name.replace('_', '-')} applies only without --plain")
