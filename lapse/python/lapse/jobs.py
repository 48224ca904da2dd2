"""When a job saves a checkpoint, and when it stops early; docs/stop-and-resume.md has the rules."""
from . import _native, errors
from .arguments import number, optional, whole

_LARGEST = 2**63 - 1
_LAST_SECOND = 9_000_000_000  # in the year 2255


class JobControl:
    """One object for a server on each rank. Collective.

    signals: ask the job to stop, such as signal.SIGUSR1. every_epochs, every_clocks, every_seconds: the interval of
    checkpoints, whichever is reached first. deadline: the time.time() at which the job will be killed; None:
    SLURM_JOB_END_TIME on rank 0. The job is to stop grace seconds before the deadline. The end of a with block restores
    the previous signal handlers.
    """

    def __init__(self, server, signals=(), *, every_epochs=None, every_clocks=None, every_seconds=None, deadline=None, grace=120):
        epochs, clocks = (optional(whole, given, name, 0, _LARGEST)
                          for given, name in ((every_epochs, "every_epochs"), (every_clocks, "every_clocks")))
        seconds = optional(whole, every_seconds, "every_seconds", 0, _LAST_SECOND)
        self._native = _native.make_job(
            server._native, [whole(given, "a signal", 0, 2**31 - 1) for given in signals], epochs, clocks, seconds,
            optional(_time, deadline), whole(grace, "grace", 0, _LAST_SECOND))

    stop_requested = property(lambda self: self._native.stop_requested, doc="Whether a worker is to return early. Cheap.")
    checkpoint_due = property(lambda self: self._native.checkpoint_due, doc="Whether the interval's time is over. Cheap.")
    stop_reason = property(lambda self: self._native.stop_reason, doc='Why should_stop() was True: "SIGUSR1 on rank 2".')

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._native.end()

    def should_stop(self):
        """Collective. True on all ranks or on none."""
        return self._native.should_stop()

    def need_checkpoint(self, epochs=0, clocks=0):
        """Collective. Whether a checkpoint is due, by the progress of rank 0. If so, the interval restarts."""
        return self._native.need_checkpoint(*_progress(epochs, clocks))

    def begin_interval(self, epochs=0, clocks=0):
        """Collective. Restarts the interval, after loading a checkpoint or saving one for another reason."""
        self._native.begin_interval(*_progress(epochs, clocks))


def _time(deadline):
    seconds = number(deadline, "deadline")
    if not 0 <= seconds <= _LAST_SECOND:
        raise errors.ConfigurationError(f"deadline is {seconds}: expected seconds since 1970, at most {_LAST_SECOND}")
    return seconds


def _progress(epochs, clocks):
    return whole(epochs, "epochs", 0, _LARGEST), whole(clocks, "clocks", 0, _LARGEST)
