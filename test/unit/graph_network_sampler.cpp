// Samples of neighbourhoods, beside sets made from the graph.
#include "apps/graph_network/neighbour_sampler.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using namespace lapse::apps;

namespace {

using Limits = std::vector<std::optional<std::uint32_t>>;

Graph random_graph(std::uint32_t nodes, std::size_t edges, std::uint64_t seed) {
  lapse::RandomEngine random(seed);
  std::vector<Edge> list(edges);
  for (Edge& edge : list)
    edge = {static_cast<std::uint32_t>(random.below(nodes)), static_cast<std::uint32_t>(random.below(nodes))};
  return {nodes, list};
}

// The nodes that output i of a layer has sampled.
std::vector<std::int64_t> sampled(const SampledNeighbourhood& found, const SampledLayer& layer,
                                  std::size_t i) {
  std::vector<std::int64_t> nodes;
  for (auto at = layer.offsets[i]; at < layer.offsets[i + 1]; ++at)
    nodes.push_back(found.nodes[static_cast<std::size_t>(layer.sources[static_cast<std::size_t>(at)])]);
  return nodes;
}

void check_layer(const Graph& graph, const SampledNeighbourhood& found, const SampledLayer& layer,
                 std::optional<std::uint32_t> limit) {
  REQUIRE(layer.offsets.size() == static_cast<std::size_t>(layer.outputs) + 1);
  CHECK(layer.offsets.front() == 0);
  CHECK(layer.offsets.back() == static_cast<std::int64_t>(layer.sources.size()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(layer.outputs); ++i) {
    const auto node = static_cast<std::uint32_t>(found.nodes[i]);
    const auto drawn = sampled(found, layer, i);
    const std::set<std::int64_t> different(drawn.begin(), drawn.end());
    const auto neighbours = graph.neighbours(node);
    const std::set<std::int64_t> all(neighbours.begin(), neighbours.end());
    CHECK(different.size() == drawn.size());
    CHECK(drawn.size() == std::min<std::size_t>(all.size(), limit.value_or(1000)));
    for (const std::int64_t neighbour : drawn) CHECK(all.contains(neighbour));
  }
}

}  // namespace

TEST_CASE("each node samples distinct neighbours, as many as it may") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Graph graph = random_graph(40, 150, seed);
    NeighbourSampler sampler(graph);
    const std::vector<std::int64_t> seeds{3, 17, 0};
    const Limits limits = seed % 2 == 0 ? Limits{2, 3} : Limits{std::nullopt, 4};
    const SampledNeighbourhood found = sampler.sample(seeds, limits, seed);
    REQUIRE(found.layers.size() == 2);
    CHECK(std::set<std::int64_t>(found.nodes.begin(), found.nodes.end()).size() == found.nodes.size());
    CHECK(std::vector<std::int64_t>(found.nodes.begin(), found.nodes.begin() + 3) == seeds);
    CHECK(found.layers[1].outputs == 3);
    // The input of the second layer is the output of the first.
    std::set<std::int64_t> first_outputs(seeds.begin(), seeds.end());
    for (std::size_t i = 0; i < 3; ++i) {
      for (const std::int64_t node : sampled(found, found.layers[1], i)) first_outputs.insert(node);
    }
    CHECK(found.layers[0].outputs == static_cast<std::int64_t>(first_outputs.size()));
    for (std::size_t layer = 0; layer < 2; ++layer)
      check_layer(graph, found, found.layers[layer], limits[layer]);
  }
}

TEST_CASE("without limits a neighbourhood has all nodes within as many steps as layers") {
  const Graph graph = random_graph(60, 70, 5);
  NeighbourSampler sampler(graph);
  for (std::int64_t seed = 0; seed < 60; ++seed) {
    std::set<std::int64_t> reached{seed};
    for (int step = 0; step < 2; ++step) {
      std::set<std::int64_t> next = reached;
      for (const std::int64_t node : reached) {
        for (const std::uint32_t neighbour : graph.neighbours(static_cast<std::uint32_t>(node)))
          next.insert(neighbour);
      }
      reached = next;
    }
    const auto found = sampler.sample(std::vector<std::int64_t>{seed}, Limits(2), 0);
    CHECK(std::set<std::int64_t>(found.nodes.begin(), found.nodes.end()) == reached);
  }
}

TEST_CASE("all sets of neighbours are equally likely") {
  std::vector<Edge> edges;
  for (std::uint32_t node = 1; node <= 5; ++node) edges.push_back({0, node});
  const Graph star(6, edges);
  NeighbourSampler sampler(star);
  std::map<std::set<std::int64_t>, int> counts;
  constexpr int kDraws = 10000;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto found =
        sampler.sample(std::vector<std::int64_t>{0}, Limits{2}, static_cast<std::uint64_t>(draw));
    const auto drawn = sampled(found, found.layers[0], 0);
    ++counts[std::set<std::int64_t>(drawn.begin(), drawn.end())];
  }
  CHECK(counts.size() == 10);
  // Of 10 sets; 5 standard deviations of a binomial count.
  for (const auto& [set, count] : counts) CHECK(std::abs(count - kDraws / 10) < 150);
}

TEST_CASE("a sample depends on its arguments alone") {
  const Graph graph = random_graph(50, 400, 1);
  NeighbourSampler one(graph);
  NeighbourSampler other(graph);
  const std::vector<std::int64_t> seeds{1, 2, 3};
  const auto first = one.sample(seeds, Limits{3, 3}, 7);
  CHECK_THROWS_AS(other.sample(std::vector<std::int64_t>{4, 4}, Limits{3}, 7), lapse::UsageError);
  other.sample(std::vector<std::int64_t>{9, 30}, Limits{5, 5}, 1);
  const auto second = other.sample(seeds, Limits{3, 3}, 7);
  CHECK(first.nodes == second.nodes);
  CHECK(first.layers[0].sources == second.layers[0].sources);
  CHECK(one.sample(seeds, Limits{3, 3}, 8).nodes != first.nodes);
}

TEST_CASE("isolated nodes and empty batches have empty layers") {
  const Graph graph(4, std::vector<Edge>{{0, 1}});
  NeighbourSampler sampler(graph);
  const auto found = sampler.sample(std::vector<std::int64_t>{3, 2}, Limits{16, 16}, 0);
  CHECK(found.nodes == std::vector<std::int64_t>{3, 2});
  CHECK(found.layers[0].offsets == std::vector<std::int64_t>{0, 0, 0});
  const auto none = sampler.sample({}, Limits{16, 16}, 0);
  CHECK(none.nodes.empty());
  CHECK(none.layers[1].outputs == 0);
}

TEST_CASE("nodes that do not exist or repeat, and limits of 0, are errors") {
  const Graph graph(4, std::vector<Edge>{{0, 1}});
  NeighbourSampler sampler(graph);
  const auto check = [&](const std::vector<std::int64_t>& seeds, const Limits& limits,
                         const std::string& words) {
    CHECK_THROWS_AS(sampler.sample(seeds, limits, 0), lapse::UsageError);
    CHECK_THROWS_WITH(sampler.sample(seeds, limits, 0), Contains(words));
  };
  check({0, 4}, {1}, "node 4 of a batch: expected 0 to 3");
  check({-1}, {1}, "node -1 of a batch");
  check({1, 2, 1}, {1}, "node 1 twice in a batch");
  check({1}, {3, 0}, "at most 0 neighbours");
}
