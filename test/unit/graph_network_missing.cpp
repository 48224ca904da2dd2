// Partitions where METIS was not found.
#include "apps/graph_network/graph_partition.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using namespace lapse::apps;

TEST_CASE("without METIS a partition by it is an error that names the others") {
  CHECK_FALSE(has_metis());
  const Graph graph(2, {});
  CHECK_THROWS_AS(metis_partition(graph, 2, 0), lapse::ConfigurationError);
  CHECK_THROWS_WITH(metis_partition(graph, 2, 0), Contains("libmetis-dev") && Contains("random or range"));
  CHECK(range_partition(2, 2).size() == 2);
}
