// Placement against all possible placements, where there are few.
#include <algorithm>
#include <set>

#include "lapse/core/random.hpp"
#include "lapse/stage/placement.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;

namespace {

using Counts = std::vector<std::size_t>;  // workers, by rank

// All ways to give the ranks this number of workers, within `limits`.
void all_placements(const Counts& limits, std::size_t workers, Counts& given, std::vector<Counts>& all) {
  if (given.size() == limits.size()) {
    if (workers == 0) all.push_back(given);
    return;
  }
  for (std::size_t here = 0; here <= std::min(limits[given.size()], workers); ++here) {
    given.push_back(here);
    all_placements(limits, workers - here, given, all);
    given.pop_back();
  }
}

struct Spread {
  std::size_t domains;
  bool one_rank;
};

Spread spread_of(const Counts& counts, const std::vector<RankCapacity>& ranks) {
  std::set<std::int32_t> domains;
  std::size_t used = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] == 0) continue;
    domains.insert(ranks[rank].domain);
    ++used;
  }
  return {.domains = domains.size(), .one_rank = used == 1};
}

Counts counts_of(const std::vector<Place>& places, std::size_t ranks) {
  Counts counts(ranks);
  for (const Place& place : places)
    counts[static_cast<std::size_t>(place.rank)] += static_cast<std::size_t>(place.workers);
  return counts;
}

}  // namespace

TEST_CASE("No possible placement is closer together, for any small run") {
  RandomEngine random(3);
  const auto below = [&](std::uint64_t end) { return static_cast<std::size_t>(random() % end); };
  std::size_t found = 0;
  for (int run = 0; run < 20000; ++run) {
    std::vector<RankCapacity> ranks(1 + below(4));
    std::vector<std::uint64_t> bytes;
    for (RankCapacity& rank : ranks) {
      rank.slots = below(4);
      rank.free = below(rank.slots + 1);
      rank.domain = static_cast<std::int32_t>(below(3));
      bytes.push_back(below(2) * (1 + below(9)));
    }
    const std::size_t workers = 1 + below(6);
    PlacementHistory history;
    for (std::size_t use = below(3); use > 0; --use)
      history.use(std::vector<Place>{{static_cast<std::int32_t>(below(ranks.size())), 1}});
    std::size_t slots_with_data = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (bytes[rank] > 0) slots_with_data += ranks[rank].slots;
    Counts limits;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      limits.push_back(bytes[rank] == 0 && slots_with_data >= workers ? 0 : ranks[rank].free);

    std::vector<Counts> all;
    Counts none;
    all_placements(limits, workers, none, all);
    const auto places = place({.workers = workers, .data_bytes = bytes, .history = history}, ranks);
    REQUIRE(places.has_value() == !all.empty());
    if (!places) continue;
    ++found;
    const Counts counts = counts_of(*places, ranks.size());
    REQUIRE(std::ranges::find(all, counts) != all.end());
    const Spread spread = spread_of(counts, ranks);
    std::uint64_t oldest = ~std::uint64_t{0};
    for (const Counts& other : all) {
      const Spread of_other = spread_of(other, ranks);
      REQUIRE(spread.domains <= of_other.domains);
      REQUIRE((spread.one_rank || !of_other.one_rank));
      if (!of_other.one_rank) continue;
      const auto rank =
          std::ranges::find_if(other, [](std::size_t count) { return count > 0; }) - other.begin();
      oldest = std::min(oldest, history.last_use(static_cast<std::int32_t>(rank)));
    }
    // With data, no rank that the task has not used for longer would have done.
    if (spread.one_rank && slots_with_data >= workers) {
      REQUIRE(history.last_use(places->front().rank) == oldest);
    }
  }
  REQUIRE(found > 5000);
}
