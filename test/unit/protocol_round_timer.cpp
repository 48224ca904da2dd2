#include "lapse/protocol/modules/round_timer.hpp"

#include <chrono>

#include "test/support/catch.hpp"

using lapse::RoundTimer;
using lapse::RoundTimes;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

const RoundTimer::Clock::time_point kStart{std::chrono::hours(1)};

RoundTimer timer_that_began(const RoundTimes& times, std::size_t asked) {
  RoundTimer timer;
  timer.set_times(times);
  timer.begin(kStart);
  timer.sent(asked);
  return timer;
}

}  // namespace

TEST_CASE("A round lasts until three quarters of its keys have arrived, at most 5 ms") {
  const RoundTimer timer = timer_that_began({}, 100);
  CHECK(timer.lasts(kStart + milliseconds(1), 100));
  CHECK(timer.lasts(kStart + milliseconds(1), 26));
  CHECK_FALSE(timer.lasts(kStart + milliseconds(1), 25));
  CHECK_FALSE(timer.lasts(kStart + milliseconds(5), 100));
}

TEST_CASE("A request comes too early until the least time has passed") {
  RoundTimes times;
  times.least = microseconds(300);
  const RoundTimer timer = timer_that_began(times, 0);
  CHECK(timer.is_too_early(kStart + microseconds(299)));
  CHECK_FALSE(timer.is_too_early(kStart + microseconds(300)));
}

TEST_CASE("Rounds by the clock follow the interval; one that lasts is attempted again before it must end") {
  RoundTimes times;
  times.interval = milliseconds(2);
  const RoundTimer timer = timer_that_began(times, 100);
  REQUIRE(timer.next(kStart));
  CHECK(*timer.next(kStart) == kStart + milliseconds(2));
  CHECK(timer.next_attempt(kStart + milliseconds(2)) == kStart + milliseconds(4));
  CHECK(timer.next_attempt(kStart + milliseconds(4)) == kStart + milliseconds(5));
}

TEST_CASE("Without an interval no round follows the clock") {
  RoundTimes times;
  times.interval.reset();
  const RoundTimer timer = timer_that_began(times, 100);
  CHECK_FALSE(timer.has_interval());
  CHECK_FALSE(timer.next(kStart));
  CHECK(timer.next_attempt(kStart) == kStart + RoundTimer::kMaxRound);
}
