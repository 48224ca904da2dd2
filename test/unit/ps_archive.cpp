// The contributions of ranks to collective calls: round trips, and damaged data.
#include "lapse/ps/agreement/archive.hpp"

#include "lapse/core/statistics/counters.hpp"
#include "lapse/core/statistics/statistics_archive.hpp"
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

TEST_CASE("Texts, numbers and lists of an archive survive") {
  const std::vector<std::string> texts{"", "a text", std::string(70000, '\0')};
  CHECK(from_archive<std::vector<std::string>>(to_archive(texts)) == texts);
  const std::vector<std::vector<std::int64_t>> lists{{}, {-1, 1}, {INT64_MAX}};
  CHECK(from_archive<std::vector<std::vector<std::int64_t>>>(to_archive(lists)) == lists);
  CHECK(from_archive<bool>(to_archive(true)));
  CHECK(from_archive<double>(to_archive(0.1)) == 0.1);
}

TEST_CASE("Lengths and truth values that an archive cannot have are refused before memory is taken") {
  for (const std::uint64_t length : {std::uint64_t{9}, std::uint64_t{1} << 40, UINT64_MAX}) {
    const std::string bytes = to_archive(length) + "8 bytes.";
    CAPTURE(length);
    CHECK_THROWS_AS(from_archive<std::string>(bytes), lapse::ProtocolError);
    CHECK_THROWS_AS(from_archive<std::vector<std::string>>(bytes), lapse::ProtocolError);
    CHECK_THROWS_AS(from_archive<std::vector<std::uint64_t>>(bytes), lapse::ProtocolError);
    CHECK_THROWS_AS(from_archive<std::vector<RankStatistics>>(bytes), lapse::ProtocolError);
  }
  CHECK_THROWS_AS(from_archive<std::vector<std::uint64_t>>(to_archive(std::uint64_t{8}) + "8 bytes."),
                  lapse::ProtocolError);
  CHECK_THROWS_AS(from_archive<bool>("\2"), lapse::ProtocolError);
}
