"""What create_table and estimate_memory take, as lapse/python/table.cpp reads it."""
import numpy

from . import errors


class Rule:
    """An update rule of the application, for create_table; its functions are those of docs/update-rules.md.

    name: the rule with its parameters, compared across ranks. apply(value, state, update, scale) changes the arrays value
    and state. state: elements of state beside each value, at first what initialise(value, state) makes of zeros.
    merge: gradient, additive or none.
    """

    def __init__(self, name, apply, state=0, initialise=None, merge="gradient"):
        self.name, self.apply, self.state, self.initialise, self.merge = name, apply, state, initialise, merge


def whole_numbers(given, what, keys, least, most):
    """An array of int64 with a number for each of the keys."""
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


def table_specification(name="", keys=0, dtype=numpy.float32, *, length=1, lengths=None, sparse=False, initial=0.0, seed=0,
                        rule="add", home="hash", max_keys=None, memory_limit_bytes=None, location_caches=None, eventual=None,
                        **parameters):
    """The type of the elements, and everything else."""
    what = f"table '{name}'" if name else "a table"
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
    if not isinstance(initial, tuple) and not callable(initial):
        initial = ("constant", float(initial), 0.0)
    return numpy.dtype(dtype), {
        "name": name, "keys": keys, "length": length, "lengths": lengths, "sparse": sparse, "initial": initial, "seed": seed,
        "rule": rule, "home": home, "max_keys": max_keys, "memory_limit_bytes": memory_limit_bytes,
        "location_caches": location_caches, "eventual": eventual,
        "parameters": {key: float(value) for key, value in parameters.items()}}
