// The selection of traced keys, and the bounds of clocks.
#include <set>

#include "lapse/core/error.hpp"
#include "lapse/ps/trace/clock_bounds.hpp"
#include "lapse/ps/trace/traced_selection.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using Catch::Matchers::Contains;

namespace {

std::set<std::uint64_t> selected(const std::string& text, std::uint64_t keys, std::uint64_t end = 1000) {
  const KeySelection selection = traced_selection(text, "t", keys);
  std::set<std::uint64_t> found;
  for (std::uint64_t key = 0; key < end; ++key)
    if (selection.contains(Key(key))) found.insert(key);
  return found;
}

}  // namespace

TEST_CASE("keys to trace are all, lists, ranges or random ones, by table") {
  CHECK(selected("all", 10).size() == 1000);
  CHECK(selected("u:1;t:all", 10).size() == 1000);
  CHECK(selected("t:5,1,7-9,8-12", 100) == std::set<std::uint64_t>{1, 5, 7, 8, 9, 10, 11, 12});
  CHECK(selected("u:5", 100).empty());
  CHECK(traced_selection("u:5", "t", 100).is_empty());
  CHECK(selected("a:b:3;t:4", 100) == std::set<std::uint64_t>{4});
  CHECK(traced_tables("a:b:3;t:4") == std::vector<std::string>{"a:b", "t"});
  CHECK(traced_tables("all").empty());

  const auto random = selected("t:random 50 seed 4", 500);
  CHECK(random.size() == 50);
  CHECK(*random.rbegin() < 500);
  CHECK(random == selected("t:random 50 seed 4", 500));
  CHECK(random != selected("t:random 50 seed 5", 500));
  const auto ranged = selected("t:random 20 range 100-129", 0);
  CHECK(ranged.size() == 20);
  CHECK(*ranged.begin() >= 100);
  CHECK(*ranged.rbegin() <= 129);
  CHECK(selected("t:random 20 range 100-109", 0).size() == 10);
  // Each key is as likely as the others.
  std::vector<int> drawn(10, 0);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const KeySelection selection = KeySelection::random(3, seed, {0, 9});
    for (std::uint64_t key = 0; key < 10; ++key) drawn[key] += selection.contains(Key(key)) ? 1 : 0;
  }
  for (const int count : drawn) CHECK((count > 500 && count < 700));
}

TEST_CASE("a selection that is none is refused") {
  const auto refused = [](const std::string& text, std::uint64_t keys) {
    try {
      traced_selection(text, "t", keys);
    } catch (const ConfigurationError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refused("", 10), Contains("expected all"));
  CHECK_THAT(refused("t", 10), Contains("expected all"));
  CHECK_THAT(refused("t:", 10), Contains("expected all"));
  CHECK_THAT(refused("t:5-3", 10), Contains("'5-3'"));
  CHECK_THAT(refused("t:x", 10), Contains("'x'"));
  CHECK_THAT(refused("t:-1", 10), Contains("'-1'"));
  CHECK_THAT(refused("t:10", 10), Contains("has 10 keys"));
  CHECK_THAT(refused("t:random 5", 0), Contains("need a range"));
  CHECK_THAT(refused("t:random", 10), Contains("random N"));
  CHECK_THAT(refused("t:random 5 seed", 10), Contains("random N"));
  CHECK_THAT(refused("t:random 99999999", 10), Contains("random N"));
  CHECK_THAT(refused("t:random 5 range 5-10", 10), Contains("has 10 keys"));
  CHECK_THROWS_AS(traced_tables("t"), ConfigurationError);
}

TEST_CASE("the bounds of clocks contain their difference") {
  // Rank 1's clock is 1000 ahead. Exchanges take 10 and 30.
  const std::vector<ExchangeTimes> first{{0, 10}, {100, 130}};
  const std::vector<ExchangeTimes> mine{{1000, 1012}, {1101, 1128}};
  const ClockBounds bounds = clock_bounds(mine, first);
  CHECK(bounds == ClockBounds{990, 1012});
}
