"""The frame of a program with one parameter manager."""
import os
import shlex
import sys
import time
import traceback

import torch

import lapse
import lapse.torch as lt

from .command_line import Stop
from .errors import ApplicationError, on_every_rank, on_rank_0
from .manager_options import manager_options


def run_program(world, read_options, program, without_manager=lambda options: None):
    """Collective. Runs program(ctx, options) with a lapse.torch.Context and returns the exit status of the process.

    without_manager(options) is called before; if it returns a status, that is the program.

    read_options(): options with those of add_manager_options; may raise Stop. program returns a status. If it raises a
    lapse.Error, it does so on every rank, as collective calls do: rank 0 prints one line `error: ...`, and the status is 1.
    Work that can fail on one rank only is done by a worker, or in on_every_rank. Any other exception ends the job.
    """
    torch.set_num_threads(1)  # A worker is one thread.
    try:
        options = read_options()
        status = without_manager(options)
        if status is not None:
            return status
        with lt.Context(world, _with_defaults(manager_options(options))) as ctx:
            try:
                return program(ctx, options)
            except lapse.Error as error:
                text = _text_of(world, error)
                if world.rank == 0:
                    print(f"error: {text}", file=sys.stderr, flush=True)
                return 1
    except Stop as stop:
        return stop.status
    except lapse.Error as error:  # On every rank.
        if world.rank == 0:
            print(f"error: {error}", file=sys.stderr, flush=True)
        return 1
    except BaseException:
        # The other ranks would wait for this one.
        traceback.print_exc()
        sys.stderr.flush()
        if world.size == 1:
            return 1
        world.Abort(1)


def _text_of(world, error):
    """Of a worker's ApplicationError: its own text, without the place in the program."""
    cause = str(error.__cause__) if isinstance(error.__cause__, ApplicationError) else None
    return next((text for text in world.allgather(cause) if text is not None), str(error))


def _with_defaults(options):
    return options if os.environ.get("LAPSE_LOG_LEVEL") else {"lapse.log_level": "warning", **options}


def write_result(world, path, text):
    """Collective. Rank 0 writes a text file. Every rank raises ApplicationError if it cannot."""
    def write():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    on_rank_0(world, write)


def require_output(world, path):
    """Collective. Checks before the work that rank 0 can write this file, which becomes empty if it is new."""
    def check():
        with open(path, "a", encoding="utf-8"):
            pass
    if path is not None:
        on_rank_0(world, check)


def report(world, summary, json_path):
    """Collective. Prints the summary, and writes it as JSON, with the command line and the time, if there is a path."""
    if world.rank == 0:
        sys.stdout.write(summary.to_text())
        sys.stdout.flush()
    if json_path is not None:
        summary.add("command", shlex.join(sys.argv))
        summary.add("ended", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))
        write_result(world, json_path, summary.to_json())


__all__ = ["on_every_rank", "on_rank_0", "report", "require_output", "run_program", "write_result"]
