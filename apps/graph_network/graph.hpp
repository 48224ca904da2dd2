// An undirected graph as lists of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lapse::apps {

// Numbers of nodes, from 0.
struct Edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  bool operator==(const Edge&) const = default;
};

// The neighbours of each node, in ascending order and each once. An edge has no direction, so u v and v u are
// one edge. Immutable: any number of threads may use it.
class Graph {
 public:
  static constexpr std::uint64_t kMaxNodes = 0xffffffffU;

  // Edges from a node to itself, and edges that are given again, are left out and counted. Throws UsageError
  // for more than kMaxNodes nodes and for an edge to a node that does not exist; OutOfMemory.
  Graph(std::uint64_t nodes, std::span<const Edge> edges);

  std::uint64_t nodes() const { return offsets_.size() - 1; }
  // Different edges between two nodes.
  std::uint64_t edges() const { return neighbours_.size() / 2; }
  std::uint64_t self_loops() const { return self_loops_; }
  std::uint64_t duplicates() const { return duplicates_; }
  // Nodes without a neighbour.
  std::uint64_t isolated_nodes() const { return isolated_nodes_; }
  std::size_t max_degree() const { return max_degree_; }

  std::size_t degree(std::uint32_t node) const {
    return static_cast<std::size_t>(offsets_[node + std::size_t{1}] - offsets_[node]);
  }
  std::span<const std::uint32_t> neighbours(std::uint32_t node) const {
    return std::span(neighbours_).subspan(static_cast<std::size_t>(offsets_[node]), degree(node));
  }

 private:
  // Sorts each list, leaves out repetitions, and closes the gaps.
  void remove_duplicates();

  std::vector<std::uint64_t> offsets_;  // of the list of each node in neighbours_, and the end of the last
  std::vector<std::uint32_t> neighbours_;
  std::uint64_t self_loops_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t isolated_nodes_ = 0;
  std::size_t max_degree_ = 0;
};

}  // namespace lapse::apps
