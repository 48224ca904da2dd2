#include "apps/checkpoint_tool/array_file.hpp"

#include <utility>

#include "apps/checkpoint_tool/hdf5_file.hpp"
#include "apps/checkpoint_tool/npy_files.hpp"
#include "apps/checkpoint_tool/safetensors_file.hpp"

namespace lapse::apps {

std::optional<ArrayFormat> array_format(std::string_view path) {
  if (path.ends_with(".npy")) return ArrayFormat::npy;
  if (path.ends_with(".safetensors")) return ArrayFormat::safetensors;
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return ArrayFormat::hdf5;
  return std::nullopt;
}

std::unique_ptr<ArrayFile> make_array_file(ArrayFormat format, const std::string& path,
                                           std::vector<ArrayDescription> arrays) {
  switch (format) {
    case ArrayFormat::npy:
      return std::make_unique<NpyFiles>(arrays);
    case ArrayFormat::safetensors:
      return std::make_unique<SafetensorsFile>(path, std::move(arrays));
    case ArrayFormat::hdf5:
      break;
  }
  return make_hdf5_file(path, arrays);
}

}  // namespace lapse::apps
