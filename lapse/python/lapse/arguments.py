"""Checks of arguments; an error names the argument."""
import numbers
import operator

from . import errors


def _described(kind):
    if kind.__module__ == "mpi4py.MPI":
        return f"an mpi4py.MPI.{kind.__name__}"
    return f"a {kind.__name__}" if kind.__module__ == "builtins" else f"a {kind.__module__}.{kind.__name__}"


def of_kind(kind, given, what):
    if not isinstance(given, kind):
        raise TypeError(f"{what} is {given!r}: expected {_described(kind)}")
    return given


def text(given, what):
    try:
        of_kind(str, given, what).encode()
    except UnicodeEncodeError:
        raise errors.ConfigurationError(f"{what} is {given!r}: expected a text that UTF-8 has") from None
    return given


def whole(given, what, least, most):
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{what} is {given!r}: expected a whole number") from None
    if not least <= number <= most:
        raise errors.ConfigurationError(f"{what} is {number}: expected {least} to {most}")
    return number


def number(given, what):
    try:
        made = float(given)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what} is {given!r}: expected a number") from None
    if isinstance(given, numbers.Integral) and made != int(given):
        raise errors.ConfigurationError(f"{what} is {given}: expected a number that float64 has")
    return made


def option(given, name):
    """An option's value as text."""
    if isinstance(given, bool):
        return "on" if given else "off"
    if given is None:
        raise TypeError(f"the option '{name}' is None: expected a value")
    return str(given)


def function(given, what):
    if not callable(given):
        raise TypeError(f"{what} is {given!r}: expected a function")
    return given


def optional(check, given, *arguments):
    return None if given is None else check(given, *arguments)
