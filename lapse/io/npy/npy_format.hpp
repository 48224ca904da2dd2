// The .npy format of NumPy, as far as this project uses it: float32, float64, int32, int64 and uint64, C
// order, one or two dimensions.
//
//   bytes  0-5    "\x93NUMPY"
//   bytes  6-7    version: 1, 0 (versions 2 and 3 differ only in the width of the next field: 4 bytes)
//   bytes  8-9    length of the header that follows, little-endian
//   bytes 10-...  "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", blanks, newline
//                 up to a multiple of 64 bytes
//   then          the elements, little-endian, row by row
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lapse::io {

static_assert(std::endian::native == std::endian::little,
              "elements are written as they are stored in memory");

template <class T>
concept NpyElement = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

template <NpyElement T>
constexpr std::string_view npy_descriptor() {
  if (std::same_as<T, std::uint64_t>) return "<u8";
  if (std::integral<T>) return sizeof(T) == 4 ? "<i4" : "<i8";
  return sizeof(T) == 4 ? "<f4" : "<f8";
}

constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};
constexpr std::size_t kNpyAlignment = 64;

// Lengths of the one or two dimensions, slowest first.
using NpyShape = std::vector<std::size_t>;

}  // namespace lapse::io
