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
    if options.plain and world.size > 1:
        raise ApplicationError(f"--plain on {world.size} ranks: it is for one process")
    for path in (options.output, options.summary_json):
        require_output(world, path)
    data = graph_data.load(world, options)
    progress = ProgressLine()

    def report_line(text):
        if world.rank == 0:
            progress.report(text)
    if options.plain:
        trainer = PlainTrainer(options, data, report_line)
        trainer.run()
        progress.end()
        summary = plain_summary(world, options, data, trainer)
    else:
        partition = divide(world, data, world.size * options.workers, options.partition, options.seed)
        job = TrainingJob(ctx, options, world)
        trainer = Trainer(ctx, world, options, data, partition, job, report_line)
        finished = trainer.run(_identity(options, data))
        progress.end()
        if not finished:
            report_line(job.stop_text)
            return options.stop_status
        summary = summary_of(world, options, trainer, partition, ctx)
    if options.output is not None:
        write_result(world, options.output, "".join(f"{number}\n" for number in trainer.predictions()))
    report(world, summary, options.summary_json)
    return 0
