#include <fmt/format.h>
#include <metis.h>

#include <limits>
#include <new>

#include "apps/graph_network/graph_partition.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

constexpr idx_t kMaxNumber = std::numeric_limits<idx_t>::max();

// The graph in METIS's form.
struct MetisGraph {
  MetisGraph(const Graph& graph, std::span<const std::uint8_t> trained) {
    offsets.reserve(static_cast<std::size_t>(graph.nodes()) + 1);
    neighbours.reserve(static_cast<std::size_t>(graph.edges()) * 2);
    offsets.push_back(0);
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
      for (const std::uint32_t neighbour : graph.neighbours(node))
        neighbours.push_back(static_cast<idx_t>(neighbour));
      offsets.push_back(static_cast<idx_t>(neighbours.size()));
    }
    weights.reserve(2 * trained.size());
    for (const std::uint8_t is_trained : trained) {
      weights.push_back(1);
      weights.push_back(is_trained != 0 ? 1 : 0);
    }
  }

  std::vector<idx_t> offsets;
  std::vector<idx_t> neighbours;
  std::vector<idx_t> weights;  // of each node: 1, and 1 if it is trained; empty: 1
};

std::vector<std::uint32_t> partition(const Graph& graph, std::uint32_t parts, std::uint64_t seed,
                                     std::span<const std::uint8_t> trained) {
  MetisGraph form(graph, trained);
  auto nodes = static_cast<idx_t>(graph.nodes());
  idx_t weights_of_node = trained.empty() ? 1 : 2;
  auto count = static_cast<idx_t>(parts);
  idx_t cut = 0;
  std::vector<idx_t> found(static_cast<std::size_t>(graph.nodes()));
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed % static_cast<std::uint64_t>(kMaxNumber));
  options[METIS_OPTION_NUMBERING] = 0;
  const int status =
      METIS_PartGraphKway(&nodes, &weights_of_node, form.offsets.data(), form.neighbours.data(),
                          trained.empty() ? nullptr : form.weights.data(), nullptr, nullptr, &count, nullptr,
                          nullptr, options, &cut, found.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK) {
    throw UsageError(fmt::format("METIS refused a graph of {} nodes and {} edges for {} parts: status {}",
                                 graph.nodes(), graph.edges(), parts, status));
  }
  return {found.begin(), found.end()};
}

}  // namespace

bool has_metis() {
  return true;
}

std::vector<std::uint32_t> metis_partition(const Graph& graph, std::uint32_t parts, std::uint64_t seed,
                                           std::span<const std::uint8_t> trained) {
  if (!trained.empty() && trained.size() != graph.nodes())
    throw UsageError(
        fmt::format("which of {} nodes are trained, for a graph of {}", trained.size(), graph.nodes()));
  if (parts < 2 || graph.edges() == 0 || parts > graph.nodes()) return range_partition(graph.nodes(), parts);
  if (graph.nodes() >= static_cast<std::uint64_t>(kMaxNumber) ||
      graph.edges() > static_cast<std::uint64_t>(kMaxNumber) / 2) {
    throw UsageError(
        fmt::format("a graph of {} nodes and {} edges is too large for METIS: at most {} nodes and {} edges",
                    graph.nodes(), graph.edges(), kMaxNumber - 1, kMaxNumber / 2));
  }
  try {
    return partition(graph, parts, seed, trained);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("out of memory for METIS, with {} nodes and {} edges", graph.nodes(), graph.edges()));
  }
}

}  // namespace lapse::apps
