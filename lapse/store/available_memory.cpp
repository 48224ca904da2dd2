#include "lapse/store/available_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

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

// Version 2 shows the group's own files at the root of the process's control-group namespace.
std::size_t control_group_bytes() {
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return kUnlimited;
  return *limit > *used ? *limit - *used : 0;
}

std::size_t address_space_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const auto pages = number_in("/proc/self/statm");
  const std::size_t used = pages ? *pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

std::size_t available_memory_bytes() {
  return std::min({machine_bytes(), control_group_bytes(), address_space_bytes()});
}

}  // namespace lapse
