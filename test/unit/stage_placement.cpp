// The rules of placement, one case each.
#include "lapse/stage/placement.hpp"

#include "test/support/catch.hpp"

using namespace lapse::stage;

namespace {

using Places = std::vector<Place>;
using Bytes = std::vector<std::uint64_t>;

// Ranks with these numbers of slots, all free; two ranks are a domain.
std::vector<RankCapacity> ranks_of(const std::vector<std::size_t>& free) {
  std::vector<RankCapacity> ranks;
  for (std::size_t rank = 0; rank < free.size(); ++rank)
    ranks.push_back({.slots = free[rank], .free = free[rank], .domain = static_cast<std::int32_t>(rank / 2)});
  return ranks;
}

std::optional<Places> placed(std::size_t workers, const std::vector<RankCapacity>& ranks,
                             const Bytes& bytes = {}, const PlacementHistory& history = {}) {
  return place({.workers = workers, .data_bytes = bytes, .history = history}, ranks);
}

}  // namespace

TEST_CASE("Workers share a rank if they can, else a domain, else few domains") {
  const auto ranks = ranks_of({1, 2, 3, 4, 5, 0});
  REQUIRE(placed(5, ranks) == Places{{4, 5}});
  REQUIRE(placed(4, ranks) == Places{{4, 4}});
  REQUIRE(placed(7, ranks) == Places{{2, 3}, {3, 4}});
  REQUIRE(placed(12, ranks) == Places{{2, 3}, {3, 4}, {4, 5}});
  REQUIRE(placed(15, ranks) == Places{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
  REQUIRE_FALSE(placed(16, ranks));
}

TEST_CASE("Ranks with data are taken, in turn") {
  PlacementHistory history;
  const auto ranks = ranks_of({2, 4, 2, 2});
  const Bytes bytes{10, 0, 10, 1};
  for (const std::int32_t expected : {0, 2, 3, 0, 2}) {
    const auto places = placed(2, ranks, bytes, history);
    REQUIRE(places == Places{{expected, 2}});
    history.use(*places);
  }
}

TEST_CASE("Workers are shared in proportion to the data of their ranks") {
  const auto ranks = ranks_of({4, 4, 4, 4});
  REQUIRE(placed(8, ranks, {30, 10, 0, 0}) == Places{{0, 4}, {1, 4}});
  REQUIRE(placed(5, ranks, {40, 10, 0, 0}) == Places{{0, 4}, {1, 1}});
  REQUIRE(placed(9, ranks, {100, 100, 50, 50}) == Places{{0, 4}, {1, 3}, {2, 1}, {3, 1}});
}

TEST_CASE("Of domains with enough slots, the one that the task has not used for longest is taken") {
  PlacementHistory history;
  history.use(Places{{0, 2}, {1, 1}});
  const auto ranks = ranks_of({3, 3, 2, 2});
  REQUIRE(placed(4, ranks, {10, 10, 10, 10}, history) == Places{{2, 2}, {3, 2}});
  REQUIRE(placed(4, ranks, {}, history) == Places{{0, 2}, {1, 2}});
}

TEST_CASE("Ranks without data wait for those with data only where these have enough slots at all") {
  auto ranks = ranks_of({2, 2, 2, 2});
  ranks[0].free = 0;
  REQUIRE_FALSE(placed(2, ranks, {10, 0, 0, 0}));
  REQUIRE(placed(3, ranks, {10, 0, 0, 0}));
}

TEST_CASE("A task without data stays on the rank of its last use") {
  PlacementHistory history;
  history.use(Places{{2, 1}});
  REQUIRE(placed(1, ranks_of({4, 4, 1, 1}), {}, history) == Places{{2, 1}});
  REQUIRE(placed(2, ranks_of({4, 4, 1, 1}), {}, history) == Places{{0, 2}});
}

TEST_CASE("A history counts how long a task has stayed") {
  PlacementHistory history;
  REQUIRE(history.stayed() == 0);
  history.use(Places{{1, 1}});
  history.use(Places{{1, 2}});
  REQUIRE(history.stayed() == 2);
  history.use(Places{{0, 1}, {1, 1}});
  REQUIRE(history.stayed() == 1);
  REQUIRE(history.last_use(1) == 3);
  REQUIRE(history.last_use(2) == 0);
}
