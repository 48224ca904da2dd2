// Writes arrays as .npy files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/io/files/output_file.hpp"
#include "lapse/io/npy/npy_format.hpp"

namespace lapse::io {

// The bytes before the elements of an array of one or two dimensions.
LAPSE_EXPORT std::string npy_header(std::string_view descriptor, const NpyShape& shape);

// Writes one array piece by piece, so that it is never in memory as a whole. The file appears under its name
// when close() has succeeded; until then it is called <path>.tmp, which the destructor removes. Used by one
// thread. Every call may throw FileError with the operating system's reason.
template <NpyElement T>
class NpyWriter {
 public:
  // Creates the file and reserves its bytes on the disk. Throws UsageError unless the shape has one or two
  // dimensions.
  NpyWriter(std::string path, const NpyShape& shape);

  // Writes the next elements in C order. Throws UsageError if they exceed the shape.
  void append(std::span<const T> values);
  // Throws UsageError if elements are missing.
  void close();

  const std::string& path() const { return file_.path(); }

 private:
  std::size_t elements_left_;
  OutputFile file_;
};

// Writes a whole array. Throws what NpyWriter throws.
template <NpyElement T>
void write_npy(const std::string& path, const NpyShape& shape, std::span<const T> values) {
  NpyWriter<T> writer(path, shape);
  writer.append(values);
  writer.close();
}

extern template class LAPSE_EXPORT NpyWriter<float>;
extern template class LAPSE_EXPORT NpyWriter<double>;
extern template class LAPSE_EXPORT NpyWriter<std::int32_t>;
extern template class LAPSE_EXPORT NpyWriter<std::int64_t>;
extern template class LAPSE_EXPORT NpyWriter<std::uint64_t>;

}  // namespace lapse::io
