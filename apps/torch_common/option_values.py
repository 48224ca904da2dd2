"""Kinds of values of options: functions that convert a text, and raise argparse.ArgumentTypeError."""
import argparse
import math


def integer(low=0, high=None):
    """An integer within these bounds, which are included."""
    expected = f"an integer from {low}" + ("" if high is None else f" to {high}")

    def convert(text):
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or value < low or high is not None and value > high:
            raise argparse.ArgumentTypeError(f"'{text}', expected {expected}")
        return value
    return convert


def number(low=0.0, high=None, *, above=False):
    """A number within these bounds, which are included; above: except the lower one."""
    expected = f"a number {'above' if above else 'from'} {low:g}" + ("" if high is None else f" to {high:g}")

    def convert(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < low or above and value == low or high is not None and value > high:
            raise argparse.ArgumentTypeError(f"'{text}', expected {expected}")
        return value
    return convert


def choice(*names):
    """One of these names."""
    def convert(text):
        if text not in names:
            raise argparse.ArgumentTypeError(f"'{text}', expected {', '.join(names[:-1])} or {names[-1]}")
        return text
    return convert


def integers(low=1):
    """Integers separated by commas, as a tuple; an empty text has none."""
    one = integer(low)

    def convert(text):
        return tuple(one(part) for part in text.split(",")) if text else ()
    return convert


def file_name(text):
    """A name that is not empty."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("expected the name of a file")
    return text
