"""Hooks for log lines and fatal errors (docs/hooks.md), and for regions (docs/regions.md)."""
import atexit
import os
import sys
import traceback

from . import _native

_hooks = {"log": None, "fatal": None}
_children = {"are_ended": False}


def set_hooks(log=None, fatal=None, begin_region=None, end_region=None):
    """Sets hooks for all servers of this process, and replaces earlier ones. None: no hook.

    log(level, rank, message) gets each message instead of standard error; level is error, warning, info or debug.
    fatal(rank, reason) is called before the job is ended by MPI_Abort. begin_region(name) and end_region(name) are called
    around regions that take a thread's time. Any thread calls the hooks; they must return soon and not call the library.
    Their exceptions go to sys.unraisablehook.
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
    """Ends a child forked in a worker's function on a thread of the server: it has no caller."""
    status = 1
    if isinstance(raised, SystemExit):
        status = raised.code if isinstance(raised.code, int) else int(raised.code is not None)
    elif raised is not None:
        traceback.print_exception(type(raised), raised, raised.__traceback__)
    else:
        sys.stderr.write(f"lapse[{rank}] error: a child that fork has made returns from the function of a worker, and ends\n")
    _leave(status)


def end_children():
    """Makes a child of os.fork with an uncaught exception end without MPI_Finalize, which would wait for its parent's job."""
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
    """Ends the job: this rank leaves the block of its server by an exception, and the others would not answer."""
    reason = "this rank leaves the block of its server alone: the job ends"
    text = "".join(traceback.format_exception(kind, value, trace)) + reason
    if not _call("log", "error", rank, text):
        sys.stderr.write(f"lapse[{rank}] error: {text}\n")
        sys.stderr.flush()
    _call("fatal", rank, reason)
    from mpi4py import MPI
    MPI.COMM_WORLD.Abort(1)


def _call(name, *arguments):
    """Calls the hook. Returns whether it succeeded: the job ends even if a hook raises."""
    if _hooks[name] is None:
        return False
    try:
        _hooks[name](*arguments)
        return True
    except Exception:
        traceback.print_exc()
        return False
