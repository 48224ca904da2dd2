// Reads .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/npy/npy_format.hpp"

namespace lapse::io {

template <NpyElement T>
struct NpyArray {
  NpyShape shape;
  std::vector<T> values;  // in C order
};

// Reads a whole array of elements T. Throws FileError if the file cannot be read, is not a .npy file of a
// known version, or has a header that is not exactly as the format requires, another element type, Fortran
// order, other than one or two dimensions, or another number of bytes than its shape needs. Allocates nothing
// for the shape in a header before the file's size has confirmed it.
template <NpyElement T>
NpyArray<T> read_npy(const std::string& path);

extern template LAPSE_EXPORT NpyArray<float> read_npy<float>(const std::string& path);
extern template LAPSE_EXPORT NpyArray<double> read_npy<double>(const std::string& path);
extern template LAPSE_EXPORT NpyArray<std::int32_t> read_npy<std::int32_t>(const std::string& path);
extern template LAPSE_EXPORT NpyArray<std::int64_t> read_npy<std::int64_t>(const std::string& path);
extern template LAPSE_EXPORT NpyArray<std::uint64_t> read_npy<std::uint64_t>(const std::string& path);

}  // namespace lapse::io
