// Numbers that each key of a table has, such as its length: arrays of NumPy, and functions of Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "lapse/core/types.hpp"
#include "lapse/python/arrays.hpp"

namespace lapse::python {

// Where a number comes from: `given` is an array of int64 with an element for each key, or a function of the
// key, which may be called on any thread.
std::function<std::size_t(Key)> lengths_by_key(const py::object& given);

// The same for ranks. A function is asked about a key of a dense table once, about one of a sparse table
// (keys: 0) each time.
std::function<std::int32_t(Key)> homes_by_key(const py::object& given, std::uint64_t keys);

}  // namespace lapse::python
