// What ranks give each other in collective calls: there and back, and damaged.
#include "lapse/ps/archive.hpp"

#include <cstring>

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

TEST_CASE("An archive that promises more than it has is refused before memory is allocated for it") {
  const std::string text = to_archive(std::string("a text"));
  const std::string list = to_archive(std::vector<std::uint64_t>{1, 2});
  for (const std::uint64_t length : {std::uint64_t{7}, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
    std::string longer_text = text;
    std::memcpy(longer_text.data(), &length, sizeof length);
    CHECK_THROWS_AS(from_archive<std::string>(longer_text), lapse::ProtocolError);
    std::string longer_list = list;
    std::memcpy(longer_list.data() + list.size() - 3 * sizeof length, &length, sizeof length);
    CHECK_THROWS_AS(from_archive<std::vector<std::uint64_t>>(longer_list), lapse::ProtocolError);
  }
  CHECK(from_archive<std::string>(text) == "a text");
}

TEST_CASE("An archive with a bool that is neither true nor false is refused") {
  CHECK(from_archive<bool>(to_archive(true)));
  CHECK_THROWS_AS(from_archive<bool>(std::string(1, '\7')), lapse::ProtocolError);
}
