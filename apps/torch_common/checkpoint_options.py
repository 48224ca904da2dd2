"""Options for checkpoints, stopping and resuming: those of the other applications. docs/stop-and-resume.md explains them."""
import argparse
import re
import signal

from .option_values import file_name, integer

_UNITS = {"epoch": "epochs", "clock": "clocks", "s": 1, "second": 1, "m": 60, "minute": 60, "h": 3600, "hour": 3600}
_SIGNALS = {"USR1": signal.SIGUSR1, "USR2": signal.SIGUSR2, "TERM": signal.SIGTERM, "INT": signal.SIGINT, "HUP": signal.SIGHUP}
_LARGEST = 2**62


def parse_interval(text):
    """{"epochs", "clocks", "seconds": number} of 5epochs, 10minutes, 1000clocks, several of them by commas, or never."""
    interval = {}
    if text == "never":
        return interval
    for part in text.split(","):
        match = re.fullmatch(r"([1-9]\d*)([a-z]+?)s?|([1-9]\d*)s", part)
        unit = _UNITS.get("s" if match and match[3] else match[2]) if match else None
        count = int(match[1] or match[3]) if match else 0
        if unit is None or count > _LARGEST:
            raise argparse.ArgumentTypeError(f"'{text}', expected such as 5epochs, 10minutes, 1000clocks, several separated by "
                                             "commas, or never")
        if isinstance(unit, str):
            interval[unit] = count
        else:
            interval["seconds"] = min(count * unit, 10**9)
    return interval


def parse_signals(text):
    """Numbers of the signals USR1,TERM and the like, or none."""
    if text == "none":
        return ()
    names = [part.removeprefix("SIG") for part in text.split(",")]
    if not all(name in _SIGNALS for name in names):
        raise argparse.ArgumentTypeError(f"'{text}', expected some of {', '.join(_SIGNALS)}, separated by commas, or none")
    return tuple(_SIGNALS[name] for name in names)


def add_checkpoint_options(command_line):
    """Adds --checkpoint-dir, --resume and the options that need them."""
    folder = ("--checkpoint-dir", lambda options: options.checkpoint_dir is not None)
    command_line.add("checkpoint-dir", file_name, None,
                     "Save checkpoints to this folder, which all ranks see: now and then, when the job is to stop, and in the end",
                     metavar="FOLDER")
    command_line.add("checkpoint-every", parse_interval, parse_interval("10minutes"),
                     "From one checkpoint to the next: epochs, seconds, minutes, hours or clocks (batches of a worker), as 5epochs "
                     "or 10minutes; several separated by commas: what comes first; never: only when the job is to stop, and in "
                     "the end", needs=folder, default_text="10minutes")
    command_line.add("checkpoint-keep", integer(0), 2, "Checkpoints that stay, the newest; 0: all", metavar="N", needs=folder)
    command_line.add_flag("resume", "Continue from the newest checkpoint in the folder; where there is none, start", needs=folder)
    command_line.add("resume-step", integer(1), None, "Continue from this step, and not from the newest; later ones are removed as "
                     "soon as there is another checkpoint, unless all are kept", metavar="N",
                     needs=("--resume", lambda options: options.resume))
    command_line.add("stop-status", integer(1, 125), 75, "Exit status of a job that has stopped early", metavar="STATUS",
                     needs=folder)
    command_line.add("signals", parse_signals, parse_signals("USR1,TERM"),
                     "Signals at which the job saves a checkpoint and stops, or none", metavar="NAMES", needs=folder,
                     default_text="USR1,TERM")
    command_line.add("stop-before", integer(0, 1000000), 120,
                     "Seconds before the end of the Slurm job (SLURM_JOB_END_TIME) at which the job saves a checkpoint and stops",
                     metavar="SECONDS", needs=folder)
