// Which worker trains which node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/graph_network/graph.hpp"

namespace lapse::apps {

// The part of each node, from 0 to parts - 1. All functions throw UsageError for 0 parts. Parts may be empty
// if there are more parts than nodes.

// Consecutive nodes; the sizes of parts differ by at most one.
std::vector<std::uint32_t> range_partition(std::uint64_t nodes, std::uint32_t parts);

// The same numbers of nodes, chosen at random.
std::vector<std::uint32_t> random_partition(std::uint64_t nodes, std::uint32_t parts, std::uint64_t seed);

// Parts with few edges between them (Karypis and Kumar, *A Fast and High Quality Multilevel Scheme for
// Partitioning Irregular Graphs*, 1998), about equal in nodes and in those that are `trained` (empty: nodes
// alone). Where METIS has nothing to divide, with a graph without edges or more parts than nodes, it is
// range_partition. Deterministic. Throws ConfigurationError if METIS was not found when this was built,
// UsageError for a graph that is too large for its integers or `trained` of another size, and OutOfMemory.
std::vector<std::uint32_t> metis_partition(const Graph& graph, std::uint32_t parts, std::uint64_t seed,
                                           std::span<const std::uint8_t> trained = {});
bool has_metis();

// How many edges connect two parts.
std::uint64_t cut_edges(const Graph& graph, std::span<const std::uint32_t> part_of);

}  // namespace lapse::apps
