#include "lapse/checkpoint/checkpoint_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "lapse/core/random.hpp"

namespace lapse {

std::uint64_t new_checkpoint_number() {
  std::random_device random;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return mix_bits(static_cast<std::uint64_t>(now)) ^ (std::uint64_t{random()} << 32U) ^ random();
}

std::string checkpoint_file_name(std::uint64_t checkpoint, std::uint64_t index, std::uint64_t files) {
  std::string name =
      fmt::format("{}{}{}", checkpoint_file_prefix(checkpoint), index, kCheckpointFileExtension);
  if (checkpoint_subfolders(files) == 0) return name;
  return checkpoint_subfolder_name(index / kMaxFilesInFolder) + "/" + name;
}

std::string checkpoint_file_prefix(std::uint64_t checkpoint) {
  return fmt::format("{:016x}-", checkpoint);
}

std::uint64_t checkpoint_subfolders(std::uint64_t files) {
  return files <= kMaxFilesInFolder ? 0 : (files - 1) / kMaxFilesInFolder + 1;
}

std::string checkpoint_subfolder_name(std::uint64_t index) {
  return fmt::format("{:03}", index);
}

bool is_checkpoint_subfolder(std::string_view name) {
  return name.size() >= 3 && name.size() <= 9 &&
         std::ranges::all_of(name, [](char one) { return one >= '0' && one <= '9'; });
}

bool is_checkpoint_file(std::string_view name) {
  return name.ends_with(".json.tmp") || name.ends_with(kCheckpointFileExtension);
}

}  // namespace lapse
