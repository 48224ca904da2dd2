#include "apps/graph_network/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

void check_edge(const Edge& edge, std::uint64_t nodes) {
  if (std::max(edge.from, edge.to) >= nodes)
    throw UsageError(fmt::format("edge {} {} of a graph with {} nodes: expected nodes below {}", edge.from,
                                 edge.to, nodes, nodes));
}

}  // namespace

Graph::Graph(std::uint64_t nodes, std::span<const Edge> edges) {
  if (nodes > kMaxNodes) throw UsageError(fmt::format("a graph of {} nodes: at most {}", nodes, kMaxNodes));
  try {
    offsets_.assign(static_cast<std::size_t>(nodes) + 1, 0);
    for (const Edge& edge : edges) {
      check_edge(edge, nodes);
      if (edge.from == edge.to) {
        ++self_loops_;
        continue;
      }
      ++offsets_[edge.from + std::size_t{1}];
      ++offsets_[edge.to + std::size_t{1}];
    }
    for (std::size_t node = 0; node < nodes; ++node) offsets_[node + 1] += offsets_[node];
    neighbours_.resize(static_cast<std::size_t>(offsets_.back()));
    std::vector<std::uint64_t> ends(offsets_.begin(), offsets_.end() - 1);
    for (const Edge& edge : edges) {
      if (edge.from == edge.to) continue;
      neighbours_[static_cast<std::size_t>(ends[edge.from]++)] = edge.to;
      neighbours_[static_cast<std::size_t>(ends[edge.to]++)] = edge.from;
    }
    remove_duplicates();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("out of memory for a graph of {} nodes and {} edges", nodes, edges.size()));
  }
}

void Graph::remove_duplicates() {
  std::size_t end = 0;
  for (std::size_t node = 0; node + 1 < offsets_.size(); ++node) {
    const auto list = neighbours_.begin() + static_cast<std::ptrdiff_t>(offsets_[node]);
    const auto list_end = neighbours_.begin() + static_cast<std::ptrdiff_t>(offsets_[node + 1]);
    std::sort(list, list_end);
    const auto kept = static_cast<std::size_t>(std::unique(list, list_end) - list);
    std::copy_n(list, kept, neighbours_.begin() + static_cast<std::ptrdiff_t>(end));
    offsets_[node] = end;
    end += kept;
    max_degree_ = std::max(max_degree_, kept);
    if (kept == 0) ++isolated_nodes_;
  }
  duplicates_ = (neighbours_.size() - end) / 2;
  offsets_.back() = end;
  neighbours_.resize(end);
  neighbours_.shrink_to_fit();
}

}  // namespace lapse::apps
