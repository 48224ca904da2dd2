"""The program: trains and predicts."""
import argparse

from torch_common.manager_options import technique_of
from torch_common.mpi import WORLD
from torch_common.program import report, require_output, run_program
from torch_common.progress_line import ProgressLine
from torch_common.summary import Summary
from torch_common.training_job import TrainingJob, saved_state

from .options import MODEL_OPTIONS, check, command_line, run_identity
from .plain_training import PlainTrainer
from .predictions import quality_of, write_predictions
from .problem import read_problem, saved_problem
from .report import add_manager, add_quality, add_to_epoch, add_training, describe_epoch, describe_problem
from .trainer import Trainer


def is_due(options, epoch):
    every = options.evaluate_every
    return epoch == options.epochs or every > 0 and epoch % every == 0


def train(trainer, problem, options, pause):
    """The epochs. pause(): after each phase; whether the job has stopped. Returns the quality after the last epoch, None without a test,
    and whether the job has stopped."""
    quality = None
    progress = ProgressLine() if WORLD.rank == 0 else None
    while trainer.epochs < options.epochs:
        if trainer.run():
            record = trainer.history[-1]
            if problem.test is not None and is_due(options, trainer.epochs):
                quality = trainer.evaluate()
                add_to_epoch(record, quality)
            if progress:
                progress.report(describe_epoch(record))
        if pause():
            return quality, True
    if progress:
        progress.end()
    return quality, False


def program(ctx, options):
    """Trains or predicts on the manager."""
    for path in (options.summary_json, options.output):
        require_output(WORLD, path)
    if options.predict is not None:
        return predict(ctx, options)
    job = TrainingJob(ctx, options, WORLD)
    problem = read_problem(WORLD, options)
    trainer = Trainer(ctx, WORLD, problem, options, job)
    state = job.begin(run_identity(options, problem.schema.text, options.files))
    if state is not None:
        problem.restore(state["problem"])
        trainer.restore(state["trainer"])
    if WORLD.rank == 0:
        print(describe_problem(problem, trainer.workers), flush=True)
    job.set_progress(trainer.epochs, trainer.clocks)

    def current():
        return {"trainer": trainer.state(), "problem": problem.state(), "options": {name: getattr(options, name) for name in MODEL_OPTIONS}}
    quality, has_stopped = train(trainer, problem, options, lambda: job.pause(trainer.epochs, trainer.clocks, current))
    if has_stopped:
        if WORLD.rank == 0:
            print(job.stop_text, flush=True)
        return options.stop_status
    job.finish(trainer.epochs, trainer.clocks, current)
    if quality is None and problem.test is not None:  # The checkpoint was that of a finished training.
        quality = trainer.evaluate()
    if options.output is not None:
        write_predictions(WORLD, options.output, problem.test.paths, trainer.predict(numbered=True))
    summary = Summary()
    add_training(summary, trainer.history, quality, trainer.cost, trainer.workers)
    add_manager(summary, technique_of(options), trainer.cost, ctx.manager.statistics(), trainer.history)
    report(WORLD, summary, options.summary_json)
    return 0


def predict(ctx, options):
    """Predicts the rows of a file by a checkpoint."""
    loaded, _, state = saved_state(ctx, options.checkpoint_dir, options.resume_step)
    made = argparse.Namespace(**{**vars(options), **state["options"]})
    problem = saved_problem(WORLD, made, state["problem"], options.predict)
    trainer = Trainer(ctx, WORLD, problem, made, None)
    ctx.load(options.checkpoint_dir, loaded.step)
    trainer.restore(state["trainer"])
    gathered = trainer.predict(numbered=True)
    if options.output is not None:
        write_predictions(WORLD, options.output, problem.test.paths, gathered)
    summary = Summary()
    if WORLD.rank == 0:
        logits, labels, _ = gathered
        summary.add("step", loaded.step, "step of the checkpoint")
        known = labels == labels
        if known.any():
            add_quality(summary, quality_of(logits[known], labels[known], problem.base_rate), "")
        else:
            summary.add("samples", len(logits), "samples")
    report(WORLD, summary, options.summary_json)
    return 0


def plain(options):
    """Trains without a manager, if the options say so."""
    if not options.plain:
        return None
    for path in (options.summary_json, options.output):
        require_output(WORLD, path)
    problem = read_problem(WORLD, options)
    print(describe_problem(problem, 1), flush=True)
    trainer = PlainTrainer(WORLD, problem, options)
    quality, _ = train(trainer, problem, options, lambda: False)
    if options.output is not None:
        write_predictions(WORLD, options.output, problem.test.paths, trainer.predict(numbered=True))
    summary = Summary()
    add_training(summary, trainer.history, quality, trainer.cost, 1)
    summary.add("history", trainer.history)
    report(WORLD, summary, options.summary_json)
    return 0


def main(arguments):
    """Collective. The exit status of the program with these arguments."""
    return run_program(WORLD, lambda: command_line().parse_on_all(arguments, WORLD, lambda options: check(options, WORLD.size)), program,
                       plain)
