#include "lapse/ps/trace/clock_bounds.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "lapse/ps/agreement/agreement.hpp"

namespace lapse {

namespace {

constexpr int kClockExchanges = 8;

std::int64_t nanoseconds_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ClockBounds clock_bounds(const std::vector<ExchangeTimes>& mine, const std::vector<ExchangeTimes>& first) {
  ClockBounds bounds{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    bounds.lowest = std::max(bounds.lowest, mine[i].begin - first[i].end);
    bounds.highest = std::min(bounds.highest, mine[i].end - first[i].begin);
  }
  return bounds;
}

ClockBounds measure_clock(Agreement& agreement) {
  std::vector<std::int64_t> begins;  // of rank 0
  std::vector<ExchangeTimes> mine;
  for (int i = 0; i < kClockExchanges; ++i) {
    const std::int64_t begin = nanoseconds_now();
    begins.push_back(agreement.exchange("the comparison of clocks", begin)[0]);
    mine.push_back({begin, nanoseconds_now()});
  }
  std::vector<std::int64_t> ends;
  ends.reserve(mine.size());
  for (const ExchangeTimes& times : mine) ends.push_back(times.end);
  const std::vector<std::int64_t> ends_of_first = agreement.exchange("the comparison of clocks", ends)[0];
  std::vector<ExchangeTimes> first;
  for (std::size_t i = 0; i < begins.size(); ++i) first.push_back({begins[i], ends_of_first[i]});
  return clock_bounds(mine, first);
}

}  // namespace lapse
