"""Log lines and fatal ends, as docs/hooks.md has them, and regions, as docs/regions.md has them."""
import atexit
import os
import sys
import traceback

from . import _native

_hooks = {"log": None, "fatal": None}
_children = {"are_ended": False}


def set_hooks(log=None, fatal=None, begin_region=None, end_region=None):
    """For all servers of this process; replaces those that were set before. None: as without hooks.

    log(level, rank, message) gets each message in place of standard error; level is error, warning, info or debug.
    fatal(rank, reason) is called when the job is about to be ended by MPI_Abort. begin_region(name) and end_region(name)
    are called around what takes a thread's time. Any thread calls them: they return soon and call nothing of the library.
    What they raise goes to sys.unraisablehook.
    """
    for name, hook, arguments in (("log", log, "level, rank, message"), ("fatal", fatal, "rank, reason"),
                                  ("begin_region", begin_region, "name"), ("end_region", end_region, "name")):
        if hook is not None and not callable(hook):
            raise TypeError(f"the hook {name} is a {type(hook).__name__}: expected a function({arguments}), or None")
    atexit.unregister(_native.end_hooks)
    atexit.register(_native.end_hooks)
    _native.set_hooks(log, fatal, begin_region, end_region)
    _hooks.update(log=log, fatal=fatal)


def end_child(rank, raised):
    """A child that fork has made in the function of a worker, on a thread of the server, leaves it: it has no caller."""
    status = 1
    if isinstance(raised, SystemExit):
        status = raised.code if isinstance(raised.code, int) else int(raised.code is not None)
    elif raised is not None:
        traceback.print_exception(type(raised), raised, raised.__traceback__)
    else:
        sys.stderr.write(f"lapse[{rank}] error: a child that fork has made returns from the function of a worker, and ends\n")
    _leave(status)


def end_children():
    """A child of os.fork that does not catch an exception ends without MPI_Finalize, which would wait for its parent's job."""
    if not _children["are_ended"]:
        os.register_at_fork(after_in_child=_end_by_exceptions)
        _children["are_ended"] = True


def _end_by_exceptions():
    former = sys.excepthook

    def end(kind, value, trace):
        former(kind, value, trace)
        _leave(1)

    sys.excepthook = end


def _leave(status):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def end_job(rank, kind, value, trace):
    """This rank leaves the block of its server by an exception, and the others would not answer."""
    reason = "this rank leaves the block of its server alone: the job ends"
    text = "".join(traceback.format_exception(kind, value, trace)) + reason
    if not _call("log", "error", rank, text):
        sys.stderr.write(f"lapse[{rank}] error: {text}\n")
        sys.stderr.flush()
    _call("fatal", rank, reason)
    from mpi4py import MPI
    MPI.COMM_WORLD.Abort(1)


def _call(name, *arguments):
    """Whether there is such a hook that took it; the job ends, whatever a hook raises."""
    if _hooks[name] is None:
        return False
    try:
        _hooks[name](*arguments)
        return True
    except Exception:
        traceback.print_exc()
        return False
