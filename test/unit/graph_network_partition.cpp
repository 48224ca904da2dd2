// Partitions of graphs.
#include "apps/graph_network/graph_partition.hpp"

#include <algorithm>
#include <vector>

#include "apps/graph_network/graph_files.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;

namespace {

std::vector<std::uint64_t> sizes_of(const std::vector<std::uint32_t>& part_of, std::uint32_t parts) {
  std::vector<std::uint64_t> sizes(parts);
  for (const std::uint32_t part : part_of) ++sizes.at(part);
  return sizes;
}

// Two cliques of `size` nodes, even and odd, with one edge between them.
Graph two_cliques(std::uint32_t size) {
  std::vector<Edge> edges{{0, 1}};
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      edges.push_back({2 * a, 2 * b});
      edges.push_back({2 * a + 1, 2 * b + 1});
    }
  }
  return {2 * size, edges};
}

}  // namespace

TEST_CASE("ranges and random parts have equal sizes") {
  CHECK(range_partition(7, 3) == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2, 2});
  CHECK(range_partition(1, 3) == std::vector<std::uint32_t>{0});
  CHECK(range_partition(0, 2).empty());
  const auto random = random_partition(1000, 3, 4);
  CHECK(sizes_of(random, 3) == std::vector<std::uint64_t>{334, 333, 333});
  CHECK(random == random_partition(1000, 3, 4));
  CHECK(random != random_partition(1000, 3, 5));
  CHECK(random != range_partition(1000, 3));
  CHECK_THROWS_AS(range_partition(3, 0), lapse::UsageError);
  CHECK_THROWS_AS(random_partition(3, 0, 1), lapse::UsageError);
}

TEST_CASE("cut edges are those between parts") {
  const Graph graph(4, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  CHECK(cut_edges(graph, std::vector<std::uint32_t>{0, 0, 1, 1}) == 2);
  CHECK(cut_edges(graph, std::vector<std::uint32_t>{0, 1, 0, 1}) == 4);
  CHECK(cut_edges(graph, std::vector<std::uint32_t>{2, 2, 2, 2}) == 0);
  CHECK_THROWS_AS(cut_edges(graph, std::vector<std::uint32_t>{0}), lapse::UsageError);
}

TEST_CASE("METIS divides where few edges are") {
  if (!has_metis()) return;
  const Graph cliques = two_cliques(20);
  const auto part_of = metis_partition(cliques, 2, 1);
  CHECK(cut_edges(cliques, part_of) == 1);
  CHECK(part_of == metis_partition(cliques, 2, 1));
  CHECK(cut_edges(cliques, random_partition(40, 2, 1)) > 100);
}

TEST_CASE("METIS divides the nodes that are trained, too") {
  if (!has_metis()) return;
  const std::string folder = std::string(LAPSE_DATA_FOLDER) + "/cora/";
  const Graph graph(2708, read_edges(folder + "edges.txt.xz", 2708));
  const auto uses = read_node_uses(folder + "split.txt.xz", 2708);
  std::vector<std::uint8_t> trained(uses.size());
  std::ranges::transform(uses, trained.begin(),
                         [](NodeUse use) { return std::uint8_t{use == NodeUse::train}; });
  const auto part_of = metis_partition(graph, 4, 1, trained);
  std::vector<std::uint64_t> trained_of(4);
  for (std::size_t node = 0; node < 2708; ++node) trained_of.at(part_of[node]) += trained[node];
  for (const std::uint64_t size : sizes_of(part_of, 4)) CHECK(size < 750);
  for (const std::uint64_t size : trained_of) CHECK(size <= 40);
  CHECK(cut_edges(graph, part_of) < cut_edges(graph, random_partition(2708, 4, 1)) / 5);
}

TEST_CASE("what METIS cannot divide is divided by number") {
  if (!has_metis()) return;
  const Graph empty(5, {});
  CHECK(metis_partition(empty, 2, 0) == range_partition(5, 2));
  const Graph two(2, std::vector<Edge>{{0, 1}});
  CHECK(metis_partition(two, 4, 0) == range_partition(2, 4));
  CHECK(metis_partition(two, 1, 0) == range_partition(2, 1));
  CHECK(metis_partition(Graph(0, {}), 2, 0).empty());
  CHECK_THROWS_AS(metis_partition(two, 0, 0), lapse::UsageError);
  CHECK_THROWS_AS(metis_partition(two, 2, 0, std::vector<std::uint8_t>{1}), lapse::UsageError);
}
