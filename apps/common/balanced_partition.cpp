#include "apps/common/balanced_partition.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <queue>

namespace lapse::apps {

namespace {

struct Load {
  double share = 0;  // work / capacity
  std::uint32_t part = 0;
  auto operator<=>(const Load&) const = default;
};

std::vector<std::uint32_t> largest_first(std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < counts.size(); ++id) {
    if (counts[id] != 0) ids.push_back(id);
  }
  std::stable_sort(ids.begin(), ids.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  return ids;
}

}  // namespace

BalancedPartition::BalancedPartition(std::span<const std::uint32_t> counts, std::size_t parts)
    : BalancedPartition(counts, std::vector<std::uint32_t>(parts, 1)) {}

BalancedPartition::BalancedPartition(std::span<const std::uint32_t> counts,
                                     std::span<const std::uint32_t> capacities)
    : part_of_(counts.size()), ids_with_work_(capacities.size()) {
  for (std::size_t id = 0; id < counts.size(); ++id) {
    part_of_[id] = static_cast<std::uint32_t>(id % capacities.size());
  }
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::uint32_t part = 0; part < capacities.size(); ++part) {
    if (capacities[part] != 0) least.push({0, part});
  }
  for (const std::uint32_t id : largest_first(counts)) {
    Load load = least.top();
    least.pop();
    part_of_[id] = load.part;
    load.share += static_cast<double>(counts[id]) / capacities[load.part];
    least.push(load);
  }
  for (std::uint32_t id = 0; id < counts.size(); ++id) {
    if (counts[id] != 0) ids_with_work_[part_of_[id]].push_back(id);
  }
}

}  // namespace lapse::apps
