"""Converts objects other than NumPy arrays to keys and values: called by lapse/python/arrays.cpp."""
import numpy

_NUMBERS = (list, tuple, int, float, numpy.generic)  # have no element type of their own


def values(given, what, dtype):
    """An array of dtype from a list, number or buffer. TypeError, ValueError if it has other values."""
    array = numpy.from_dlpack(given) if hasattr(given, "__dlpack__") else numpy.asarray(given)
    if array.dtype == dtype:
        return array
    if not isinstance(given, _NUMBERS):
        raise TypeError(f"{what} of {array.dtype}: expected {dtype}")
    return _exact(array, what, dtype, "iuf" if dtype.kind == "f" else "iu")


def number(given, what):
    """An array of one float64 or int64 with the number; None if it is no number."""
    if isinstance(given, (float, numpy.floating)):
        return converted([given], what, numpy.dtype(numpy.float64))
    if isinstance(given, (int, numpy.integer, numpy.bool_)):
        return converted([int(given)], what, numpy.dtype(numpy.int64))
    return None


def keys(given):
    """An array of the keys in a list, a number or a buffer."""
    array = numpy.atleast_1d(numpy.from_dlpack(given) if hasattr(given, "__dlpack__") else given)
    if array.size == 0:
        return numpy.empty(0, numpy.uint64)
    # NumPy has no integer type for a list with small keys and keys of 2**63 or more.
    if array.dtype == numpy.float64 and isinstance(given, (list, tuple)) and all(isinstance(key, int) and key >= 0 for key in given):
        return numpy.array(given, numpy.uint64)
    return array


def converted(given, what, dtype):
    """A contiguous array of dtype, also from other numbers: 2.0 is 2. TypeError, ValueError if dtype lacks the values."""
    if dtype.names:
        given = _structures(given, what, dtype)
    elif dtype.kind in "biuf":
        array = numpy.asarray(given)
        # NumPy makes float64 of integers mixed with floats, and of integers that no integer type has
        # together.
        if dtype.kind in "iu" and array.dtype.kind == "f" and isinstance(given, (list, tuple)):
            given = _whole(numpy.array(given, object), what, dtype)
        elif array.dtype != dtype:
            given = _exact(array, what, dtype, "biuf")
    return numpy.ascontiguousarray(given, dtype)


def _structures(given, what, dtype):
    """An array of structures, from one with the same names, a tuple, or a list of these."""
    if isinstance(given, list):
        made = numpy.empty(len(given), dtype)
        for row, one in enumerate(given):
            made[row] = _structures(one, what, dtype)
        return made
    if isinstance(given, tuple) and len(given) == len(dtype.names):
        made, fields = numpy.empty((), dtype), dict(zip(dtype.names, given))
    elif isinstance(given, (numpy.ndarray, numpy.void)) and given.dtype.names == dtype.names:
        made, fields = numpy.empty(given.shape, dtype), {name: given[name] for name in dtype.names}
    else:
        raise TypeError(f"{what}: {given!r}, expected what has the fields {', '.join(dtype.names)}")
    for name, field in fields.items():
        made[name] = converted(field, f"{what}, {name}", dtype[name].base)
    return made


def _whole(numbers, what, dtype):
    made, limits = numpy.empty(numbers.shape, dtype), numpy.iinfo(dtype)
    for index, number in numpy.ndenumerate(numbers):
        if not limits.min <= number <= limits.max or number != int(number):
            raise ValueError(f"{what}: {number} is outside of {dtype}")
        made[index] = int(number)
    return made


def _exact(array, what, dtype, kinds):
    if array.size == 0:
        return numpy.empty(array.shape, dtype)
    if array.dtype.kind not in kinds:
        raise TypeError(f"{what} of {array.dtype}: expected numbers that {dtype} has")
    with numpy.errstate(over="ignore", invalid="ignore"):
        made = array.astype(dtype)
    wrong = numpy.isinf(made) & ~numpy.isinf(array) if dtype.kind == "f" else made != array
    if wrong.any():
        raise ValueError(f"{what}: {array[wrong].flat[0]} is outside of {dtype}")
    return made


def written(given, what):
    """An array in the memory of an object that exports one. TypeError if NumPy could only copy it."""
    if not hasattr(given, "__dlpack__"):
        raise TypeError(f"{what} are a {type(given).__name__}: expected an array that can be written to")
    array, exported = numpy.asarray(given), numpy.from_dlpack(given)
    if array.size > 0 and array.__array_interface__["data"][0] != exported.__array_interface__["data"][0]:
        raise TypeError(f"{what} are a {type(given).__name__}, of which NumPy makes a copy: expected an array of NumPy, or "
                        "what numpy.asarray shows in place")
    return array


def plain(given, what):
    """An array without masks. TypeError for a masked array."""
    if isinstance(given, numpy.ma.MaskedArray):
        raise TypeError(f"{what} are a masked array, whose mask would be lost: expected an array")
    return given
