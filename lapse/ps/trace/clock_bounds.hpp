// How far the clocks of hosts are apart.
#pragma once

#include <cstdint>
#include <vector>

namespace lapse {

class Agreement;

// Of this rank's steady clock minus rank 0's, in nanoseconds.
struct ClockBounds {
  std::int64_t lowest;
  std::int64_t highest;
  bool operator==(const ClockBounds&) const = default;
};

// When two ranks began and ended one exchange of messages, each by its own clock. Neither can end it before
// the other has begun.
struct ExchangeTimes {
  std::int64_t begin;
  std::int64_t end;
};

// The bounds that all exchanges together allow. `mine`, `first`: of this rank and of rank 0, as many of each.
ClockBounds clock_bounds(const std::vector<ExchangeTimes>& mine, const std::vector<ExchangeTimes>& first);

// Collective; no engine runs. Of rank 0: bounds of zero.
ClockBounds measure_clock(Agreement& agreement);

}  // namespace lapse
