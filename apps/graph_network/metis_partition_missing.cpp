// In place of metis_partition.cpp where METIS was not found.
#include "apps/graph_network/graph_partition.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

bool has_metis() {
  return false;
}

std::vector<std::uint32_t> metis_partition(const Graph& /*graph*/, std::uint32_t /*parts*/,
                                           std::uint64_t /*seed*/,
                                           std::span<const std::uint8_t> /*trained*/) {
  throw ConfigurationError(
      "a partition by METIS, which was not found when this was built (libmetis-dev): expected random or "
      "range");
}

}  // namespace lapse::apps
