"""What a program says about its run in traces of allocation (docs/allocation-traces.md)."""
import contextlib
import time

from . import _native


@contextlib.contextmanager
def trace_band(name):
    """A named interval, such as an epoch: that of the block."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a band is a {type(name).__name__}: expected a string")
    name.encode()  # Refused here rather than at the end of the block.
    begin = time.monotonic()
    try:
        yield
    finally:
        _native.trace_band(name, max(0.0, time.monotonic() - begin))


def trace_note(name, value):
    """A property of the run; the last value of a name counts."""
    _native.trace_note(name, value)
