#include "io/npy_writer.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lapse/core/file_error.hpp"

namespace lapse::io {

namespace {

std::string header_text(std::string_view descriptor, const NpyShape& shape) {
  const std::string shape_text = shape.size() == 1 ? fmt::format("({},)", shape[0])  //
                                                   : fmt::format("({}, {})", shape[0], shape[1]);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descriptor, shape_text);
  const std::size_t prefix_bytes = kNpyMagic.size() + 4;
  const std::size_t unpadded = prefix_bytes + text.size() + 1;
  text.append((kNpyAlignment - unpadded % kNpyAlignment) % kNpyAlignment, ' ');
  text += '\n';
  const char version_and_length[4] = {1, 0, static_cast<char>(text.size() & 0xff),
                                      static_cast<char>(text.size() >> 8)};
  return std::string(kNpyMagic) + std::string(version_and_length, 4) + text;
}

std::size_t element_count(const std::string& path, const NpyShape& shape) {
  if (shape.empty() || shape.size() > 2) {
    throw UsageError(fmt::format("{}: array of {} dimensions, expected 1 or 2", path, shape.size()));
  }
  return shape.size() == 1 ? shape[0] : shape[0] * shape[1];
}

}  // namespace

template <NpyElement T>
NpyWriter<T>::NpyWriter(std::string path, const NpyShape& shape)
    : path_(std::move(path)), temporary_path_(path_ + ".tmp"), elements_left_(element_count(path_, shape)) {
  file_.reset(std::fopen(temporary_path_.c_str(), "wb"));
  if (!file_) throw FileError(temporary_path_, fmt::format("cannot be created: {}", std::strerror(errno)));
  const std::string header = header_text(npy_descriptor<T>(), shape);
  write(header.data(), header.size());
}

template <NpyElement T>
NpyWriter<T>::~NpyWriter() {
  if (!file_) return;
  file_.reset();
  std::remove(temporary_path_.c_str());
}

template <NpyElement T>
void NpyWriter<T>::append(std::span<const T> values) {
  if (values.size() > elements_left_) {
    throw UsageError(fmt::format("{}: {} elements given, {} expected", path_, values.size(), elements_left_));
  }
  write(values.data(), values.size_bytes());
  elements_left_ -= values.size();
}

template <NpyElement T>
void NpyWriter<T>::close() {
  if (elements_left_ != 0) throw UsageError(fmt::format("{}: {} elements missing", path_, elements_left_));
  if (std::fclose(file_.release()) != 0 || std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary_path_.c_str());
    throw FileError(path_, fmt::format("cannot be written: {}", std::strerror(reason)));
  }
}

template <NpyElement T>
void NpyWriter<T>::write(const void* data, std::size_t bytes) {
  if (bytes != 0 && std::fwrite(data, 1, bytes, file_.get()) != bytes) {
    throw FileError(temporary_path_, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

template class NpyWriter<float>;
template class NpyWriter<double>;
template class NpyWriter<std::int32_t>;
template class NpyWriter<std::int64_t>;
template class NpyWriter<std::uint64_t>;

}  // namespace lapse::io
