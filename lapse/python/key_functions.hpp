// A number for each key of a table, such as its length, from NumPy arrays and Python functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "lapse/core/types.hpp"
#include "lapse/python/arrays.hpp"

namespace lapse::python {

// `given`: an array of int64 with one element per key, or a function of the key, which any thread may call.
std::function<std::size_t(Key)> lengths_by_key(const py::object& given);

// The same for ranks. A function is called once for a key of a dense table, and each time for a key of a
// sparse table (keys: 0).
std::function<std::int32_t(Key)> homes_by_key(const py::object& given, std::uint64_t keys);

}  // namespace lapse::python
