#include "lapse/ps/stalls/stall_watch.hpp"

#include "test/support/catch.hpp"

using lapse::StallWatch;

TEST_CASE("Without a limit nothing is ever due") {
  StallWatch watch(std::chrono::seconds(0));
  for (int look = 0; look < 10'000; ++look) REQUIRE_FALSE(watch.due());
}

TEST_CASE("Nothing is due before the limit, something is after it, and again after a restart") {
  using Clock = StallWatch::Clock;
  constexpr std::chrono::seconds kLimit{1};
  StallWatch watch(kLimit);
  for (int report = 0; report < 2; ++report) {
    const Clock::time_point start = Clock::now();
    while (!watch.due()) REQUIRE(Clock::now() - start < std::chrono::seconds(60));
    CHECK(Clock::now() - start >= kLimit);
    watch.restart();
  }
}
