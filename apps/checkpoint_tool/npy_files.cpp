#include "apps/checkpoint_tool/npy_files.hpp"

#include "lapse/io/npy/npy_writer.hpp"

namespace lapse::apps {

namespace {

std::string_view npy_descriptor_of(ArrayElement element) {
  switch (element) {
    case ArrayElement::float32:
      return io::npy_descriptor<float>();
    case ArrayElement::float64:
      return io::npy_descriptor<double>();
    case ArrayElement::int32:
      return io::npy_descriptor<std::int32_t>();
    case ArrayElement::int64:
      return io::npy_descriptor<std::int64_t>();
    case ArrayElement::uint64:
      break;
  }
  return io::npy_descriptor<std::uint64_t>();
}

}  // namespace

NpyFiles::NpyFiles(const std::vector<ArrayDescription>& arrays) {
  for (const ArrayDescription& array : arrays) {
    io::NpyShape shape{array.rows};
    if (array.columns) shape.push_back(*array.columns);
    files_.emplace_back(array.name).write(io::npy_header(npy_descriptor_of(array.element), shape));
  }
}

void NpyFiles::append(std::size_t array, std::span<const std::byte> row) {
  files_[array].write(row.data(), row.size());
}

void NpyFiles::close() {
  for (io::OutputFile& file : files_) file.close();
}

}  // namespace lapse::apps
