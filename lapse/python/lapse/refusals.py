"""Explains errors in arguments: called by lapse/python/refusals.cpp with pybind11's error."""
import operator
import re
import reprlib
import typing

import numpy

_NATIVE = "lapse._native."
# Classes declared to pybind11 after the functions that take them.
_LATER = {"lapse::python::TableHandleOf": _NATIVE + "Table", "lapse::python::FunctionHandle": _NATIVE + "Function",
          "lapse::python::SamplerHandle": _NATIVE + "Sampler", "lapse::python::PreparedHandle": _NATIVE + "Sample"}


class Parameter(typing.NamedTuple):
    name: str
    kind: str  # pybind11's name; empty: several arguments
    default: str  # empty: required


def parameters(signature):
    """Parses "(self: lapse._native.Worker, keys: object, out: object = None) -> object"."""
    parts, depth, part = [], 0, ""
    for character in signature[1:signature.rindex(")")]:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    found = []
    for part in filter(None, map(str.strip, [*parts, part])):
        name, _, rest = part.partition(": ")
        kind, _, default = rest.partition(" = ")
        found.append(Parameter(name, _LATER.get(kind, kind), default))
    return found


def described(kind):
    """Describes a pybind11 type."""
    if inner := re.fullmatch(r"Optional\[(.*)\]", kind):
        return described(inner[1]) + " or None"
    if kind.startswith(_NATIVE):
        return "a lapse." + kind[len(_NATIVE):]
    return {"int": "a whole number in its range", "float": "a number", "str": "a str", "bool": "True or False",
            "numpy.ndarray": "an array", "dtype": "a type of NumPy", "Callable": "a function"}.get(kind, kind)


def _is(given, kind):
    """Whether pybind11 may accept `given`; True if not known."""
    if inner := re.fullmatch(r"Optional\[(.*)\]", kind):
        return given is None or _is(given, inner[1])
    if kind.startswith(_NATIVE):
        return type(given).__name__ == kind[len(_NATIVE):]
    if kind == "int":
        try:
            return 0 <= operator.index(given) < 2**31
        except TypeError:
            return False
    if kind == "float":
        return isinstance(given, (int, float, numpy.number))
    plain = {"str": str, "bool": bool, "dtype": numpy.dtype}.get(kind)
    return plain is None or isinstance(given, plain)


def message(text, positional, named):
    """The message instead of pybind11's: the argument, what was given, what was expected."""
    function = text[:text.index("(")]
    expected = parameters(re.search(r"\n    1\. (.*)\n", text)[1])
    if expected and expected[0].name == "self":
        expected, positional = expected[1:], positional[1:]
    names = [parameter.name for parameter in expected]
    if len(positional) > len(expected):
        return f"{function}: {len(positional)} arguments, expected at most {len(expected)}: {', '.join(names)}"
    given = dict(zip(names, positional))
    for name, value in named.items():
        if name in given:
            return f"{function}: {name} was given twice"
        if name not in names:
            return f"{function}: there is no argument '{name}', expected {', '.join(names) or 'none'}"
        given[name] = value
    for name, kind, default in expected:
        if name not in given and not default:
            return f"{function}: {name} is missing, expected {described(kind)}"
    for name, kind, _ in expected:
        if name in given and not _is(given[name], kind):
            return f"{function}: {name} is {reprlib.repr(given[name])}, expected {described(kind)}"
    shown = ", ".join(f"{name} is {reprlib.repr(value)}" for name, value in given.items())
    return f"{function}: {shown}: expected {', '.join(f'{name} {described(kind)}' for name, kind, _ in expected)}"
