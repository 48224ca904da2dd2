"""Log lines and fatal ends, as docs/hooks.md has them."""
import atexit
import sys
import traceback

from . import _native

_hooks = {"log": None, "fatal": None}


def set_hooks(log=None, fatal=None):
    """For all servers of this process; replaces those that were set before. None: as without hooks.

    log(level, rank, message) gets each message in place of standard error; level is error, warning, info or debug.
    fatal(rank, reason) is called when the job is about to be ended by MPI_Abort. Any thread calls them: they return soon
    and call nothing of the library. What they raise goes to sys.unraisablehook.
    """
    for name, hook, arguments in (("log", log, "level, rank, message"), ("fatal", fatal, "rank, reason")):
        if hook is not None and not callable(hook):
            raise TypeError(f"the hook {name} is a {type(hook).__name__}: expected a function({arguments}), or None")
    atexit.unregister(_native.end_hooks)
    atexit.register(_native.end_hooks)
    _native.set_hooks(log, fatal)
    _hooks.update(log=log, fatal=fatal)


def end_job(rank, kind, value, trace):
    """This rank leaves the block of its server by an exception, and the others would not answer."""
    reason = "this rank leaves the block of its server alone: the job ends"
    text = "".join(traceback.format_exception(kind, value, trace)) + reason
    try:
        if _hooks["log"] is not None:
            _hooks["log"]("error", rank, text)
        else:
            sys.stderr.write(f"lapse[{rank}] error: {text}\n")
            sys.stderr.flush()
        if _hooks["fatal"] is not None:
            _hooks["fatal"](rank, reason)
    except Exception:
        traceback.print_exc()
    from mpi4py import MPI
    MPI.COMM_WORLD.Abort(1)
