"""The program between the command line and the summary."""
from torch_common.errors import ApplicationError
from torch_common.program import report, require_output, write_result
from torch_common.progress_line import ProgressLine
from torch_common.training_job import TrainingJob

from . import data as graph_data
from .partition import divide
from .plain import PlainTrainer
from .report import plain_summary, summary_of
from .training import Trainer

# What a run shares with the checkpoint from which it continues, besides the data. The numbers of ranks and workers may differ.
_OF_RUN = ("model", "inputs", "dim", "initial-scale", "feature-norm", "hidden", "neighbours", "dropout", "optimizer", "l2", "batch",
           "dense", "seed")


def _identity(options, data):
    named = {f"--{name}": getattr(options, name.replace("-", "_")) for name in _OF_RUN}
    return {**named, "the checksum of the graph": data.checksum}


def run(world, ctx, options):
    """Collective. Trains and reports; returns the status of the process."""
    data, progress = _begin(world, options)
    partition = divide(world, data, world.size * options.workers, options.partition, options.seed)
    job = TrainingJob(ctx, options, world)
    trainer = Trainer(ctx, world, options, data, partition, job, progress.report)
    finished = trainer.run(_identity(options, data))
    progress.end()
    if not finished:
        progress.report(job.stop_text)
        return options.stop_status
    _end(world, options, trainer, summary_of(world, options, trainer, partition, ctx))
    return 0


def run_plain(world, options):
    """The same without a parameter manager; None without --plain. Raises ApplicationError on several ranks."""
    if not options.plain:
        return None
    if world.size > 1:
        raise ApplicationError(f"--plain on {world.size} ranks: it is for one process")
    data, progress = _begin(world, options)
    trainer = PlainTrainer(options, data, progress.report)
    trainer.run()
    progress.end()
    _end(world, options, trainer, plain_summary(world, options, data, trainer))
    return 0


def _begin(world, options):
    """The data, and where progress is shown."""
    for path in (options.output, options.summary_json):
        require_output(world, path)
    return graph_data.load(world, options), _Progress(world)


class _Progress:
    """Lines of rank 0."""

    def __init__(self, world):
        self._line = ProgressLine() if world.rank == 0 else None

    def report(self, text):
        if self._line is not None:
            self._line.report(text)

    def end(self):
        if self._line is not None:
            self._line.end()


def _end(world, options, trainer, summary):
    if options.output is not None:
        write_result(world, options.output, "".join(f"{number}\n" for number in trainer.predictions()))
    report(world, summary, options.summary_json)
