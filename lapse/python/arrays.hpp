// NumPy arrays as keys and values, without copies if possible.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "lapse/core/types.hpp"

namespace lapse::python {

namespace py = pybind11;

// Keeps an array alive while it is used.
struct HeldArray {
  py::array array;
  char* data() const { return static_cast<char*>(py::detail::array_proxy(array.ptr())->data); }
  std::size_t size() const { return static_cast<std::size_t>(array.size()); }
};

template <class T>
bool has_elements(const py::array& array) {
  const auto* const type = py::detail::array_descriptor_proxy(py::detail::array_proxy(array.ptr())->descr);
  constexpr char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return type->kind == kind && type->elsize == static_cast<int>(sizeof(T)) &&
         (type->byteorder == '=' || type->byteorder == '|');
}

inline bool is_plain(const py::array& array) {
  return (array.flags() & py::array::c_style) != 0 &&
         (array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
}

inline std::string describe(const py::array& array) {
  return py::str(py::object(array.dtype())).cast<std::string>();
}

template <class T>
constexpr const char* element_name() {
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  return "int64";
}

// Returns an array unchanged, and anything else as an array; if `written`, in the same memory. Throws what
// Python raises.
py::array array_of(const py::object& given, const char* what, const py::dtype& type, bool written);
// Returns a contiguous array of that type. Throws TypeError or ValueError if the type lacks one of the
// numbers.
py::array converted(const py::object& given, const char* what, const py::dtype& type);

py::array key_array_of(const py::object& given);
// Throws ValueError if the array has several dimensions and the first is not the number of keys.
void check_rows(const py::array& values, const char* what, std::size_t keys);

// Throws lapse.KeyOutOfRange if an array of int64 has a negative number: keys in C++ are unsigned.
void refuse_negative(const py::array& keys);

// Returns an array of uint64 or int64 unchanged; copies an integer, or a list of integers.
inline HeldArray keys_of(const py::object& given) {
  py::array array = key_array_of(given);
  if (!has_elements<std::uint64_t>(array) && !has_elements<std::int64_t>(array))
    throw py::type_error("keys of " + describe(array) + ": expected uint64 or int64");
  if (array.ndim() != 1)
    throw py::value_error("keys with " + std::to_string(array.ndim()) + " dimensions: expected 1");
  if (!is_plain(array)) throw py::value_error("keys with gaps: expected a C-contiguous array");
  if (has_elements<std::int64_t>(array)) refuse_negative(array);
  return {std::move(array)};
}

// One key.
inline Key key_of(const py::object& given) {
  const HeldArray keys = keys_of(given);
  if (keys.size() != 1) throw py::value_error(std::to_string(keys.size()) + " keys: expected 1");
  return *reinterpret_cast<const Key*>(keys.data());
}

inline std::span<const Key> key_span(const HeldArray& keys) {
  return {reinterpret_cast<const Key*>(keys.data()), keys.size()};
}

// Values of a table: an array of its element type, an object that exports one by DLPack, or a list of
// numbers.
template <class T>
HeldArray values_of(const py::object& given, const char* what, bool written) {
  py::array array = array_of(given, what, py::dtype::of<T>(), written);
  if (!has_elements<T>(array))
    throw py::type_error(std::string(what) + " of " + describe(array) + ": expected " + element_name<T>());
  if (!is_plain(array))
    throw py::value_error(std::string(what) + " with gaps: expected a C-contiguous array");
  if (written && !array.writeable())
    throw py::value_error(std::string(what) + " that are read-only: expected an array that can be written");
  return {std::move(array)};
}

template <class T>
std::span<T> value_span(const HeldArray& values) {
  return {reinterpret_cast<T*>(values.data()), values.size()};
}

}  // namespace lapse::python
