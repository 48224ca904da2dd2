#include "lapse/store/memory/available_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "lapse/core/process/pages.hpp"

namespace lapse {

namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

std::optional<std::size_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::size_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::size_t machine_bytes() {
  std::ifstream in("/proc/meminfo");
  std::string name;
  std::size_t kilobytes = 0;
  std::string unit;
  while (in >> name >> kilobytes) {
    if (name == "MemAvailable:") return kilobytes * 1024;
    std::getline(in, unit);
  }
  return kUnlimited;
}

std::size_t left_in_group(const std::string& folder, const char* limit_file, const char* used_file) {
  const auto limit = number_in(folder + limit_file);  // The file has a word if there is no limit.
  const auto used = number_in(folder + used_file);
  if (!limit || !used) return kUnlimited;
  return *limit > *used ? *limit - *used : 0;
}

// The process's group and all enclosing groups, in either version: lines of /proc/self/cgroup are
// `number:controllers:path`, without controllers in version 2. Within a namespace the path is "/".
std::size_t control_group_bytes() {
  std::size_t least = kUnlimited;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool version_2 = controllers == ",,";
    if (!version_2 && controllers.find(",memory,") == std::string::npos) continue;
    const std::string root = version_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string path = line.substr(second + 1);;) {
      const std::string folder = fmt::format("{}{}{}", root, path, path.ends_with('/') ? "" : "/");
      least = std::min(least, version_2
                                  ? left_in_group(folder, "memory.max", "memory.current")
                                  : left_in_group(folder, "memory.limit_in_bytes", "memory.usage_in_bytes"));
      if (path.size() <= 1) break;
      path.resize(std::max<std::size_t>(1, path.find_last_of('/')));
    }
  }
  return least;
}

// The bytes that a limit of the process leaves; the usage is in that field of /proc/self/statm.
template <class Resource>
std::size_t left_by_limit(Resource resource, std::size_t field) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  std::ifstream in("/proc/self/statm");
  std::size_t pages = 0;
  for (std::size_t i = 0; i < field; ++i) in >> pages;
  const std::size_t used = in ? pages * page_bytes() : 0;
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

bool has_less(const AvailableMemory& a, const AvailableMemory& b) {
  return a.bytes < b.bytes;
}

}  // namespace

std::string AvailableMemory::to_text() const {
  return fmt::format("{} leaves {:.1f} MB", bound, static_cast<double>(bytes) / 1e6);
}

AvailableMemory available_memory(std::size_t sharers) {
  return std::min(available_for_reserved_memory(sharers), available_addresses(), has_less);
}

AvailableMemory available_for_reserved_memory(std::size_t sharers) {
  constexpr std::size_t kDataField = 6;  // with the stack
  return std::min<AvailableMemory>(
      available_for_mapped_memory(sharers),
      {left_by_limit(RLIMIT_DATA, kDataField), "the limit of the process's data (raise it: ulimit -d)"},
      has_less);
}

AvailableMemory available_for_mapped_memory(std::size_t sharers) {
  return std::min<AvailableMemory>({machine_bytes() / sharers, "the memory of the machine"},
                                   {control_group_bytes() / sharers, "the memory limit of the control group"},
                                   has_less);
}

AvailableMemory available_addresses() {
  constexpr std::size_t kAddressesField = 1;
  return {left_by_limit(RLIMIT_AS, kAddressesField),
          "the limit of the process's addresses (raise it: ulimit -v)"};
}

std::size_t available_memory_bytes() {
  return available_memory().bytes;
}

bool addresses_are_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace lapse
