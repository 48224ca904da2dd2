// Graphs of edges with self loops and repetitions, beside sets of neighbours.
#include "apps/graph_network/graph.hpp"

#include <set>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using lapse::apps::Edge;
using lapse::apps::Graph;

TEST_CASE("neighbours are sorted, each once and in both directions") {
  const std::vector<Edge> edges{{3, 1}, {1, 3}, {1, 3}, {0, 1}, {2, 2}, {1, 4}, {2, 2}};
  const Graph graph(6, edges);
  CHECK(graph.nodes() == 6);
  CHECK(graph.edges() == 3);
  CHECK(graph.self_loops() == 2);
  CHECK(graph.duplicates() == 2);
  CHECK(graph.isolated_nodes() == 2);
  CHECK(graph.max_degree() == 3);
  const auto neighbours = graph.neighbours(1);
  CHECK(std::vector<std::uint32_t>(neighbours.begin(), neighbours.end()) ==
        std::vector<std::uint32_t>{0, 3, 4});
  CHECK(graph.neighbours(2).empty());
  CHECK(graph.neighbours(5).empty());
}

TEST_CASE("graphs without edges and without nodes") {
  CHECK(Graph(0, {}).nodes() == 0);
  const Graph graph(3, {});
  CHECK(graph.isolated_nodes() == 3);
  CHECK(graph.max_degree() == 0);
}

TEST_CASE("an edge to a node that does not exist is an error") {
  CHECK_THROWS_AS(Graph(2, std::vector<Edge>{{0, 1}, {1, 2}}), lapse::UsageError);
  CHECK_THROWS_WITH(Graph(2, std::vector<Edge>{{0, 1}, {1, 2}}),
                    Contains("edge 1 2 of a graph with 2 nodes"));
  CHECK_THROWS_WITH(Graph(Graph::kMaxNodes + 1, {}), Contains("at most 4294967295"));
}

TEST_CASE("random graphs have the neighbours of their edges, and degrees are twice the edges") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    lapse::RandomEngine random(seed);
    const auto nodes = static_cast<std::uint32_t>(1 + random.below(30));
    std::vector<std::set<std::uint32_t>> expected(nodes);
    std::vector<Edge> edges;
    std::uint64_t loops = 0;
    for (std::uint64_t i = random.below(100); i > 0; --i) {
      const Edge edge{static_cast<std::uint32_t>(random.below(nodes)),
                      static_cast<std::uint32_t>(random.below(nodes))};
      edges.push_back(edge);
      if (edge.from == edge.to) {
        ++loops;
      } else {
        expected[edge.from].insert(edge.to);
        expected[edge.to].insert(edge.from);
      }
    }
    const Graph graph(nodes, edges);
    std::uint64_t degrees = 0;
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const auto found = graph.neighbours(node);
      CHECK(std::vector<std::uint32_t>(found.begin(), found.end()) ==
            std::vector<std::uint32_t>(expected[node].begin(), expected[node].end()));
      CHECK(graph.degree(node) == expected[node].size());
      degrees += graph.degree(node);
    }
    CHECK(degrees == 2 * graph.edges());
    CHECK(graph.self_loops() == loops);
    CHECK(graph.edges() + graph.self_loops() + graph.duplicates() == edges.size());
  }
}
