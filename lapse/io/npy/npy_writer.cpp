#include "lapse/io/npy/npy_writer.hpp"

#include <fmt/format.h>

#include <utility>

#include "lapse/core/file_error.hpp"

namespace lapse::io {

namespace {

std::size_t element_count(const std::string& path, const NpyShape& shape) {
  if (shape.empty() || shape.size() > 2) {
    throw UsageError(fmt::format("{}: array of {} dimensions, expected 1 or 2", path, shape.size()));
  }
  return shape.size() == 1 ? shape[0] : shape[0] * shape[1];
}

}  // namespace

std::string npy_header(std::string_view descriptor, const NpyShape& shape) {
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

template <NpyElement T>
NpyWriter<T>::NpyWriter(std::string path, const NpyShape& shape)
    : elements_left_(element_count(path, shape)),
      file_(std::move(path), npy_header(npy_descriptor<T>(), shape).size() + elements_left_ * sizeof(T)) {
  file_.write(npy_header(npy_descriptor<T>(), shape));
}

template <NpyElement T>
void NpyWriter<T>::append(std::span<const T> values) {
  if (values.size() > elements_left_) {
    throw UsageError(
        fmt::format("{}: {} elements given, {} expected", path(), values.size(), elements_left_));
  }
  file_.write(values.data(), values.size_bytes());
  elements_left_ -= values.size();
}

template <NpyElement T>
void NpyWriter<T>::close() {
  if (elements_left_ != 0) throw UsageError(fmt::format("{}: {} elements missing", path(), elements_left_));
  file_.close();
}

template class NpyWriter<float>;
template class NpyWriter<double>;
template class NpyWriter<std::int32_t>;
template class NpyWriter<std::int64_t>;
template class NpyWriter<std::uint64_t>;

}  // namespace lapse::io
