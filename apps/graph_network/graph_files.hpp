// The files of a graph with classes of nodes: edges, nodes, and which nodes are trained.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/graph_network/graph.hpp"
#include "lapse/io/files/input.hpp"

namespace lapse::apps {

// Reads edges: lines of two numbers of nodes, from 0, separated by tabs, a comma or blanks, as the first line
// determines. Plain or compressed. Ignores blank lines, and those that begin with `#`. Self loops and
// repetitions are returned, too. Throws FileError with line and column for another number of fields and for a
// field that is no integer from 0 to nodes - 1, and whatever LineReader reports. A file may be empty.
std::vector<Edge> read_edges(const io::Input& input, std::uint64_t nodes);

// The nodes of a file, in its order.
struct NodeFile {
  static constexpr std::int64_t kNoClass = -1;
  static constexpr std::int64_t kMaxClass = 65535;

  std::vector<std::int64_t> classes;  // 0 to kMaxClass, or kNoClass: unknown
  // The features of node n that are not 0: elements offsets[n] to offsets[n + 1] of the other two.
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> features;  // from 0
  std::vector<float> values;
  std::uint64_t all_features = 0;  // the largest feature and 1
};

// Reads nodes in the format of LibSVM: a line is a node, `class feature:value ...`. Throws what
// io::read_svm_file throws, as for values that are not finite, and FileError for a class that is no integer
// from -1 to kMaxClass.
NodeFile read_nodes(const io::Input& input);

// What a node is for.
enum class NodeUse : std::uint8_t { none = 0, train = 1, valid = 2, test = 3 };

// Reads a line for each node: train, valid, test or none. Throws FileError with line and column for another
// word, for more or fewer lines than nodes, and whatever LineReader reports.
std::vector<NodeUse> read_node_uses(const io::Input& input, std::uint64_t nodes);

}  // namespace lapse::apps
