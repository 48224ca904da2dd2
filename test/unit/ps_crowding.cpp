#include "lapse/ps/phase/crowding.hpp"

#include <vector>

#include "lapse/ps/agreement/archive.hpp"
#include "test/support/catch.hpp"

using lapse::from_archive;
using lapse::is_crowded;
using lapse::RankLoad;
using lapse::to_archive;

TEST_CASE("What a rank brings into a phase survives the way to the others") {
  for (const char* binding : {"", "0", "0-3,8"}) {
    const RankLoad load = from_archive<RankLoad>(to_archive(RankLoad{12, binding, true}));
    CHECK(load.workers == 12);
    CHECK(load.binding == binding);
  }
}

TEST_CASE("Workers are crowded when those that share processors outnumber them") {
  const std::vector<std::int32_t> one_host(4, 0);
  const std::vector<RankLoad> unbound(4, {2, "0-7"});
  CHECK_FALSE(is_crowded(unbound, one_host, 0, 8));
  CHECK(is_crowded(unbound, one_host, 0, 7));
  // Each rank has processors of its own.
  const std::vector<RankLoad> bound{{2, "0-1"}, {2, "2-3"}, {3, "4-5"}, {2, "6-7"}};
  CHECK_FALSE(is_crowded(bound, one_host, 0, 2));
  CHECK(is_crowded(bound, one_host, 2, 2));
  // Processors of other hosts may have the same numbers.
  CHECK_FALSE(is_crowded(unbound, std::vector<std::int32_t>{0, 0, 1, 1}, 3, 4));
  // A rank without workers serves.
  CHECK(is_crowded(std::vector<RankLoad>{{0, "0"}, {1, "0"}}, std::vector<std::int32_t>{0, 0}, 1, 1));
}
