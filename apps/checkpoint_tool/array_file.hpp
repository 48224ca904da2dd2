// Array files, to which tables are converted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::apps {

enum class ArrayElement : std::uint8_t { float32, float64, int32, int64, uint64 };

constexpr std::size_t element_bytes(ArrayElement element) {
  return element == ArrayElement::float32 || element == ArrayElement::int32 ? 4 : 8;
}

struct ArrayDescription {
  std::string name;  // in a file of several arrays; else the path of its file
  ArrayElement element = ArrayElement::float32;
  std::uint64_t rows = 0;
  std::optional<std::uint64_t> columns;  // nullopt: one dimension

  std::uint64_t row_bytes() const { return columns.value_or(1) * element_bytes(element); }
  std::uint64_t bytes() const { return rows * row_bytes(); }
};

// Writes arrays row by row, in bounded memory. A file has the name <path>.tmp until close succeeds; otherwise
// the destructor removes it. Every call may throw FileError. Used by one thread.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  // Appends the next row of the array, with row_bytes() bytes.
  virtual void append(std::size_t array, std::span<const std::byte> row) = 0;
  // Requires that every array has all its rows.
  virtual void close() = 0;
};

enum class ArrayFormat : std::uint8_t { npy, safetensors, hdf5 };
// By the extension of the path: .npy, .safetensors, .h5 or .hdf5; nullopt for others.
std::optional<ArrayFormat> array_format(std::string_view path);

// Throws UsageError for HDF5 if the program was built without it.
std::unique_ptr<ArrayFile> make_array_file(ArrayFormat format, const std::string& path,
                                           std::vector<ArrayDescription> arrays);

}  // namespace lapse::apps
