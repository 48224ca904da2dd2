#include "adapm/round_limit.hpp"

#include "test/support/catch.hpp"

using adapm::RoundLimit;
using namespace std::chrono_literals;

namespace {

RoundLimit::Clock::time_point at_start() {
  return RoundLimit::Clock::time_point(5s);
}
RoundLimit::Clock::time_point before_next() {
  return RoundLimit::Clock::time_point(5s + 99ms);
}
RoundLimit::Clock::time_point at_next() {
  return RoundLimit::Clock::time_point(5s + 100ms);
}

}  // namespace

TEST_CASE("A limit of rounds keeps them apart") {
  RoundLimit limit(10);
  CHECK(limit.least_interval() == 100ms);
  CHECK(limit.allows_round(&at_start));
  limit.count_round(&at_start);
  CHECK_FALSE(limit.allows_round(&at_start));
  CHECK_FALSE(limit.allows_round(&before_next));
  CHECK(limit.allows_round(&at_next));
}

TEST_CASE("Without a limit every round is allowed") {
  RoundLimit limit(0);
  limit.count_round(&at_start);
  CHECK(limit.allows_round(&at_start));
  CHECK(limit.least_interval() == 0s);
}
