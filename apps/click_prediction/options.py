"""The options of the program."""
import os
import zlib

from torch_common.checkpoint_options import add_checkpoint_options
from torch_common.command_line import CommandLine
from torch_common.errors import OptionError
from torch_common.manager_options import add_manager_options
from torch_common.option_values import choice, file_name, integer, integers, number
from torch_common.training_options import add_training_options

# Options that make the model, which a checkpoint has.
MODEL_OPTIONS = ("dim", "hidden", "dropout", "bins", "bin_embeddings", "initial_scale", "rule", "wide_rate", "deep_rate", "rate",
                 "weight_decay", "dense", "seed")
_RUN_OPTIONS = (*MODEL_OPTIONS, "decay", "batch", "shuffle", "test_fraction", "test_seed")


def command_line():
    """The CommandLine."""
    line = CommandLine("Click prediction by Wide & Deep in PyTorch, on the parameter manager AdaPM.")
    line.add_files("files", "Training data: tables as text, plain or compressed by xz or gzip")
    line.add("schema", file_name, None, "What the columns mean", metavar="FILE")
    _add_data(line)
    _add_model(line)
    line.add("predict", file_name, None, "Train nothing: predict the rows of this file by the newest checkpoint", metavar="FILE",
             needs=("--checkpoint-dir", lambda options: options.checkpoint_dir is not None))
    line.add("output", file_name, None, "Write the predictions of the test rows, or of --predict, to this file", metavar="FILE",
             needs=("--test, --test-fraction or --predict",
                    lambda options: bool(options.test or options.test_fraction or options.predict)))
    line.add_flag("plain", "Train the same model in plain PyTorch, in one process: for comparison")
    add_training_options(line, epochs=5, lookahead=100)
    add_manager_options(line)
    add_checkpoint_options(line)
    return line


def _add_data(line):
    line.add("test", file_name, None, "Test data; may be repeated", metavar="FILE", several=True)
    line.add("test-fraction", number(0, 0.99), 0.0, "Share of the rows that is held out for the test", metavar="SHARE",
             needs=("no --test", lambda options: not options.test))
    line.add("test-seed", integer(0, 2**32 - 1), 1, "Determines which rows are held out", metavar="N",
             needs=("--test-fraction", lambda options: options.test_fraction > 0))
    line.add("shuffle", integer(1), 100000, "Rows of a worker that are shuffled together, and are in memory", metavar="ROWS")
    line.add("statistics-rows", integer(0), 1000000,
             "Rows of all ranks from which means, deviations and bins of numeric columns are found; 0: all", metavar="ROWS")
    line.add("evaluate-every", integer(0), 1, "Epochs between evaluations on the test rows; 0: only after the last", metavar="N",
             needs=("--test or --test-fraction", lambda options: bool(options.test or options.test_fraction)))


def _add_model(line):
    adam_or_sgd = choice("sgd", "adagrad", "rowwise_adagrad", "adam", "ftrl")
    line.add("dim", integer(1, 65536), 16, "Numbers of an embedding", metavar="N")
    line.add("hidden", integers(1), (256, 128, 64), "Sizes of the dense layers", metavar="SIZES")
    line.add("dropout", number(0, 0.99), 0.0, "Share of the outputs of dense layers that is omitted in training", metavar="SHARE")
    line.add("bins", integer(0, 65536), 0, "Bins of each numeric column, which have weights in the wide part; 0: none", metavar="N")
    line.add_flag("bin-embeddings", "Bins have embeddings in the deep part, too",
                  needs=("--bins", lambda options: options.bins > 1))
    line.add("initial-scale", number(0), 0.05, "Standard deviation of new embeddings", metavar="NUMBER")
    line.add("rule", adam_or_sgd, "adagrad", "Update rule of weights and embeddings", metavar="NAME")
    line.add("wide-rate", number(0, above=True), 0.02, "Learning rate of the weights of the wide part", metavar="RATE")
    line.add("deep-rate", number(0, above=True), 0.02, "Learning rate of the embeddings", metavar="RATE")
    line.add("rate", number(0, above=True), 0.001, "Learning rate of the dense layers (Adam)", metavar="RATE")
    line.add("weight-decay", number(0), 0.0, "Weight decay of the dense layers", metavar="NUMBER",
             needs=("--dense average", lambda options: options.dense == "average"))
    line.add("decay", number(0, 1, above=True), 1.0, "Factor of all learning rates after an epoch", metavar="NUMBER")
    line.add("dense", choice("average", "table"), "average",
             "Dense layers: average: gradients are averaged over all workers in each batch; table: they are in a table, and no worker waits",
             metavar="HOW")
    line.add("batch", integer(1), 256, "Samples of a batch of all workers together", metavar="N")


def check(options, ranks):
    """Raises OptionError for options that do not fit together."""
    if options.predict is not None:
        if options.files or options.plain or options.resume:
            raise OptionError("--predict applies only without files to train, --plain and --resume")
        return
    if not options.files:
        raise OptionError("no file of training data, and no --predict")
    if options.schema is None:
        raise OptionError("no --schema")
    if options.plain and (ranks > 1 or options.workers > 1):
        raise OptionError(f"--plain runs in one process: expected one rank and one worker, not {ranks * options.workers}")
    if options.plain and options.checkpoint_dir is not None:
        raise OptionError("--checkpoint-dir applies only without --plain")
    if options.plain and options.rule not in ("sgd", "adagrad", "adam"):
        raise OptionError(f"--plain has the rules sgd, adagrad and adam, not {options.rule}")
    if options.batch < ranks * options.workers:
        raise OptionError(f"--batch is {options.batch}: expected at least one sample for each of {ranks * options.workers} workers")


def run_identity(options, schema_text, files):
    """{name: value} of what determines the training."""
    found = {f"--{name.replace('_', '-')}": getattr(options, name) for name in _RUN_OPTIONS}
    found["the schema's checksum"] = f"{zlib.crc32(schema_text.encode()):08x}"
    found["the bytes of the data"] = sum(os.path.getsize(path) for path in files)
    return found
