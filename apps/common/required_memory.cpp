#include "apps/common/required_memory.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/store/available_memory.hpp"

namespace lapse::apps {

void require_memory(std::string_view what, double bytes, std::int32_t host_ranks) {
  const double available = static_cast<double>(available_memory_bytes()) / host_ranks;
  if (bytes > available) {
    throw OutOfMemory(fmt::format("{} needs {:.1f} MB on each rank; {:.1f} MB are available", what,
                                  bytes / 1e6, available / 1e6));
  }
}

}  // namespace lapse::apps
