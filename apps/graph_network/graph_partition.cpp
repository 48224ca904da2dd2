#include "apps/graph_network/graph_partition.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

std::vector<std::uint32_t> range_partition(std::uint64_t nodes, std::uint32_t parts) {
  if (parts == 0) throw UsageError("a partition into 0 parts: expected 1 or more");
  try {
    std::vector<std::uint32_t> part_of(static_cast<std::size_t>(nodes));
    std::uint64_t node = 0;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const std::uint64_t size = nodes / parts + (part < nodes % parts ? 1 : 0);
      for (const std::uint64_t end = node + size; node < end; ++node)
        part_of[static_cast<std::size_t>(node)] = part;
    }
    return part_of;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("out of memory for a partition of {} nodes", nodes));
  }
}

std::vector<std::uint32_t> random_partition(std::uint64_t nodes, std::uint32_t parts, std::uint64_t seed) {
  std::vector<std::uint32_t> part_of = range_partition(nodes, parts);
  RandomEngine random(seed);
  for (std::size_t i = part_of.size(); i > 1; --i)
    std::swap(part_of[i - 1], part_of[static_cast<std::size_t>(random.below(i))]);
  return part_of;
}

std::uint64_t cut_edges(const Graph& graph, std::span<const std::uint32_t> part_of) {
  if (part_of.size() != graph.nodes())
    throw UsageError(fmt::format("a partition of {} nodes, expected {}", part_of.size(), graph.nodes()));
  std::uint64_t cut = 0;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    for (const std::uint32_t neighbour : graph.neighbours(node)) {
      if (node < neighbour && part_of[node] != part_of[neighbour]) ++cut;
    }
  }
  return cut;
}

}  // namespace lapse::apps
