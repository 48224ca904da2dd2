#include "apps/common/given_descriptors.hpp"

#include <dirent.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_descriptor.hpp"

namespace lapse::apps {

GivenDescriptors::GivenDescriptors() {
  const auto close = [](DIR* folder) { ::closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> folder(::opendir("/proc/self/fd"), close);
  if (folder == nullptr) return;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') descriptors_.insert(std::atoi(entry->d_name));
  }
  descriptors_.erase(::dirfd(folder.get()));
}

void GivenDescriptors::check(const std::vector<std::string>& paths, std::int32_t ranks) const {
  const std::string_view advice = ranks > 1 ? " (launchers such as mpirun do not pass open files on)" : "";
  for (const std::string& path : paths) {
    const std::optional<int> number = io::own_descriptor(path);
    if (!number || descriptors_.contains(*number)) continue;
    throw FileError(path, fmt::format("the process was not started with an open file {}{}, expected a named "
                                      "pipe, or - for standard input",
                                      *number, advice));
  }
}

}  // namespace lapse::apps
