// What ranks give each other in collective calls: there and back, and damaged.
#include "lapse/ps/archive.hpp"

#include "lapse/core/counters.hpp"
#include "lapse/core/statistics_archive.hpp"
#include "test/support/catch.hpp"

using lapse::from_archive;
using lapse::RankStatistics;
using lapse::to_archive;

namespace {

// Every counter has a value of its own.
RankStatistics example() {
  RankStatistics rank{.counters = {}, .tables = {{}, {}}};
  std::uint64_t next = 1;
  for (const auto& field : lapse::kRankCounterFields) rank.counters.*field.member = next++;
  for (const auto& field : lapse::kTableCounterFields) rank.tables[0].*field.member = next++;
  return rank;
}

}  // namespace

TEST_CASE("Statistics of a rank survive the way to another") {
  CHECK(from_archive<RankStatistics>(to_archive(example())) == example());
  CHECK(from_archive<RankStatistics>(to_archive(RankStatistics{})) == RankStatistics{});
}

TEST_CASE("A damaged archive is refused") {
  const std::string whole = to_archive(example());
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_THROWS_AS(from_archive<RankStatistics>(whole.substr(0, size)), lapse::ProtocolError);
  CHECK_THROWS_AS(from_archive<RankStatistics>(whole + '\0'), lapse::ProtocolError);
}
