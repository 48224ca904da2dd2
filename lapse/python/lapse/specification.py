"""Converts arguments of create_table and estimate_memory for lapse/python/table.cpp."""
import re

import numpy

from . import errors
from .arguments import function, number, of_kind, optional, text, whole

_LARGEST = 2**64 - 1


class Rule:
    """An update rule of the application, for create_table; its functions are those of docs/update-rules.md.

    name: including any parameters, equal on all ranks. apply(value, state, update, scale) changes the arrays value and
    state. state: the number of state elements per value; they start as zeros, which initialise(value, state) may change.
    merge: gradient, additive or none.
    """

    def __init__(self, name, apply, state=0, initialise=None, merge="gradient"):
        self.name = of_kind(str, name, "the name of a rule")
        self.apply = function(apply, f"apply of the rule '{name}'")
        self.state = whole(state, f"state of the rule '{name}'", 0, 2**31 - 1)
        self.initialise = optional(function, initialise, f"initialise of the rule '{name}'")
        if merge not in ("gradient", "additive", "none"):
            raise errors.ConfigurationError(f"merge of the rule '{name}' is {merge!r}: expected gradient, additive or none")
        self.merge = merge


def whole_numbers(given, what, keys, least, most):
    """An array of int64 with one number per key."""
    numbers = numpy.asarray(given)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise errors.ConfigurationError(
            f"{what}: an array of {numbers.dtype} with {numbers.ndim} dimensions, expected whole numbers in 1 dimension")
    if len(numbers) != keys:
        raise errors.ConfigurationError(f"{what}: {len(numbers)} numbers, expected one for each of {keys} keys")
    outside = numpy.flatnonzero((numbers < least) | (numbers > most))
    if len(outside):
        raise errors.ConfigurationError(
            f"{what}: {numbers[outside[0]]} for key {outside[0]}, expected {least} to {most}")
    return numpy.array(numbers, numpy.int64)


def _by_key(given, what, keys, sparse, least):
    if callable(given):
        return given
    if sparse:
        raise errors.ConfigurationError(f"{what}: a {type(given).__name__}, expected a function of the key, as the table is sparse")
    return whole_numbers(given, what, keys, least, numpy.iinfo(numpy.int32).max)


def _initial(given, what):
    if callable(given):
        return given
    if not isinstance(given, tuple):
        return "constant", number(given, what), 0.0
    if len(given) != 3 or given[0] not in ("uniform", "normal"):
        raise errors.ConfigurationError(
            f'{what} are {given!r}: expected a number, ("uniform", low, high), ("normal", mean, deviation) or a function')
    return given[0], number(given[1], what), number(given[2], what)


def table_specification(name="", keys=0, *, dtype=numpy.float32, length=1, lengths=None, sparse=False, initial=0.0, seed=0,
                        rule="add", home="hash", max_keys=None, memory_limit_bytes=None, location_caches=None, consistency=None,
                        not_finite="allow", max_push_norm=None, **parameters):
    """Returns the type of the elements, and all other options as a dict."""
    text(name, "the name of a table")
    what = f"table '{name}'" if name else "a table"
    keys = whole(keys, f"keys of {what}", 0, _LARGEST)
    length = whole(length, f"length of {what}", 1, 2**31 - 1)
    if isinstance(home, str) and home not in ("hash", "range"):
        raise errors.ConfigurationError(
            f"home '{home}' of {what}: expected hash, range, an array of ranks or a function of the key")
    if not isinstance(home, str):
        home = _by_key(home, f"home of {what}", keys, sparse, 0)
    if lengths is not None:
        if length != 1:
            raise errors.ConfigurationError(f"{what} has a length, {length}, and lengths: expected one of them")
        lengths = _by_key(lengths, f"lengths of {what}", keys, sparse, 1)
    if not isinstance(rule, (str, Rule)):
        raise errors.ConfigurationError(f"rule {rule!r}: expected a name or a lapse.Rule")
    if parameters and isinstance(rule, Rule):
        raise errors.ConfigurationError(f"the parameter {next(iter(parameters))!r}: a lapse.Rule has its own")
    if consistency is not None and not re.fullmatch(r"sequential|eventual|asp|bsp|(cap|e?ssp)\(\d{1,10}\)|c?vap\([^()]+(\(t\))?(, *strong)?\)", str(consistency)):
        raise errors.ConfigurationError(
            f"consistency of {what} is {consistency!r}: expected sequential, eventual, bsp, cap(s), "
            "ssp(s), essp(s), vap(v) or cvap(s, v), such as cap(2), or None for the server's default")
    if not_finite not in ("allow", "count", "refuse"):
        raise errors.ConfigurationError(f"not_finite of {what} is {not_finite!r}: expected allow, count or refuse")
    return numpy.dtype(dtype), {
        "name": name, "keys": keys, "length": length, "lengths": lengths, "sparse": of_kind(bool, sparse, f"sparse of {what}"),
        "initial": _initial(initial, f"initial values of {what}"), "seed": whole(seed, f"seed of {what}", 0, _LARGEST),
        "rule": rule, "home": home, "max_keys": optional(whole, max_keys, f"max_keys of {what}", 0, _LARGEST),
        "memory_limit_bytes": optional(whole, memory_limit_bytes, f"memory_limit_bytes of {what}", 0, _LARGEST),
        "location_caches": optional(lambda given: of_kind(bool, given, f"location_caches of {what}"), location_caches),
        "consistency": consistency,
        "not_finite": not_finite, "max_push_norm": optional(number, max_push_norm, f"max_push_norm of {what}"),
        "parameters": {key: number(value, f"the parameter {key} of the rule of {what}")
                       for key, value in parameters.items()}}
