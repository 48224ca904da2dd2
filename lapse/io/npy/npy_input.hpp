// Reads an array in a .npy file piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/io/npy/npy_format.hpp"

namespace lapse::io {

// Every call may throw FileError. Used by one thread.
class LAPSE_EXPORT NpyInput {
 public:
  // Reads the header. Throws if the file cannot be read, is not a .npy file of a known version, or its header
  // is not exactly as the format requires.
  explicit NpyInput(std::string path);

  const std::string& path() const { return path_; }
  // The element type in the file's notation: "<f4".
  const std::string& descriptor() const { return descriptor_; }
  const NpyShape& shape() const { return shape_; }
  std::size_t columns() const { return shape_.size() == 2 ? shape_[1] : 1; }

  // Call before the first read. Throws for another element type, Fortran order, other than one or two
  // dimensions, and another number of bytes than the shape needs.
  void require(std::string_view descriptor, std::size_t element_bytes) const;
  // Reads the next bytes of the elements.
  void read(void* destination, std::size_t bytes);

 private:
  void read_header();

  std::string path_;
  std::ifstream stream_;
  std::uint64_t bytes_left_ = 0;
  std::string descriptor_;
  NpyShape shape_;
  bool fortran_order_ = false;
};

}  // namespace lapse::io
