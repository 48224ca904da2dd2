#include "apps/common/required_memory.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse::apps {

void require_memory(std::string_view what, double bytes, std::int32_t host_ranks) {
  const AvailableMemory available = available_memory(static_cast<std::size_t>(host_ranks));
  if (bytes > static_cast<double>(available.bytes)) {
    throw OutOfMemory(
        fmt::format("{} needs {:.1f} MB on each rank; {}", what, bytes / 1e6, available.to_text()));
  }
}

}  // namespace lapse::apps
