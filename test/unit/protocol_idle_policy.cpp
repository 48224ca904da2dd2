#include "lapse/transport/engine/idle_policy.hpp"

#include "test/support/catch.hpp"

using lapse::IdlePolicy;
using lapse::IdleSettings;
using std::chrono::microseconds;

namespace {

// A clock that the test sets. Counts how often it is read.
struct TestClock {
  IdlePolicy::Clock::time_point now{std::chrono::hours(1)};
  int looks = 0;

  IdlePolicy::Step fail(IdlePolicy& policy) {
    return policy.failed([this] {
      ++looks;
      return now;
    });
  }
};

IdleSettings idle_settings(std::uint32_t polls_per_yield) {
  return {.spin = microseconds(200),
          .sleep_min = microseconds(100),
          .sleep_max = microseconds(1000),
          .polls_per_yield = polls_per_yield,
          .yield_interval = microseconds(0)};
}

}  // namespace

TEST_CASE("Empty polls come first, then yields for the time of the spin, then sleep") {
  IdlePolicy policy(idle_settings(3));
  TestClock clock;
  for (int round = 0; round < 4; ++round) {
    for (int poll = 0; poll < 3; ++poll) CHECK(clock.fail(policy) == IdlePolicy::Step::poll);
    CHECK(clock.fail(policy) == IdlePolicy::Step::yield);
    clock.now += microseconds(50);
  }
  CHECK(clock.looks == 4);
  for (int poll = 0; poll < 3; ++poll) CHECK(clock.fail(policy) == IdlePolicy::Step::poll);
  CHECK(clock.fail(policy) == IdlePolicy::Step::sleep);
}

TEST_CASE("Yields come no more often than their interval, however quick the polls are") {
  IdleSettings quick = idle_settings(3);
  quick.yield_interval = microseconds(25);
  IdlePolicy policy(quick);
  TestClock clock;
  int yields = 0;
  for (int poll = 0; poll < 180; ++poll) {
    yields += clock.fail(policy) == IdlePolicy::Step::yield ? 1 : 0;
    clock.now += microseconds(1);
  }
  CHECK(yields == 6);
  // With more threads than cores, every empty poll yields.
  quick.polls_per_yield = 0;
  IdlePolicy crowded(quick);
  for (int poll = 0; poll < 10; ++poll) CHECK(clock.fail(crowded) == IdlePolicy::Step::yield);
}

TEST_CASE("A success starts everything anew") {
  IdlePolicy policy(idle_settings(0));
  TestClock clock;
  CHECK(clock.fail(policy) == IdlePolicy::Step::yield);
  clock.now += microseconds(500);
  CHECK(clock.fail(policy) == IdlePolicy::Step::sleep);
  CHECK(policy.sleep_length() == microseconds(100));
  CHECK(policy.sleep_length() == microseconds(200));
  policy.succeeded();
  CHECK(clock.fail(policy) == IdlePolicy::Step::yield);
  CHECK(policy.sleep_length() == microseconds(100));
}

TEST_CASE("Sleeps double up to the longest") {
  IdlePolicy policy(idle_settings(0));
  for (const int expected : {100, 200, 400, 800, 1000, 1000, 1000}) {
    CHECK(policy.sleep_length() == microseconds(expected));
  }
}

TEST_CASE("Without a spin every empty poll leads to sleep") {
  IdleSettings none = idle_settings(0);
  none.spin = microseconds(0);
  IdlePolicy policy(none);
  TestClock clock;
  CHECK(clock.fail(policy) == IdlePolicy::Step::sleep);
}
