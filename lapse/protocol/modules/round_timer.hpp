// Decides when rounds of replication begin.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "lapse/protocol/host/effort_limit.hpp"
#include "lapse/protocol/table/intent_source.hpp"

namespace lapse {

// A round lasts about as long as a relocation, so that what happens within it is grouped: it ends when most
// of the keys that it asked for have arrived, within bounds. It does not wait for all, because a few go from
// domain to domain first.
//
// Pure. Thread safety: the holder of the progress lock.
class RoundTimer {
 public:
  using Clock = std::chrono::steady_clock;
  // A peer may be slow: a round does not wait longer than this for answers.
  static constexpr std::chrono::milliseconds kMaxRound{5};

  void set_times(const RoundTimes& times) {
    times_ = times;
    effort_.set_factor(times.pause);
  }

  // Whether the round still lasts. `asked`: keys that the rank has asked for and that have not arrived yet.
  bool lasts(Clock::time_point now, std::size_t asked) const {
    return now - begin_ < kMaxRound && asked > asked_ / kPartLate;
  }
  // Whether it is too early for a request to begin a round, whatever has arrived.
  bool is_too_early(Clock::time_point now) const { return now - begin_ < times_.least; }

  void begin(Clock::time_point now) { begin_ = now; }
  // The round has sent all its messages.
  void sent(std::size_t asked) { asked_ = asked; }

  // Rounds by the clock. next: nullopt if there are none.
  bool has_interval() const { return times_.interval.has_value(); }
  std::optional<Clock::time_point> next(Clock::time_point now) const {
    return times_.interval ? std::optional(now + *times_.interval) : std::nullopt;
  }
  // The next attempt if the round still lasts at its deadline.
  Clock::time_point next_attempt(Clock::time_point now) const {
    return std::min<Clock::time_point>(now + times_.interval.value_or(kMaxRound), begin_ + kMaxRound);
  }

  // Limits the effort of sending changes.
  EffortLimit& effort() { return effort_; }

 private:
  static constexpr std::size_t kPartLate =
      4;  // a round lasts until all but this part of its keys have arrived

  RoundTimes times_;
  Clock::time_point begin_;
  std::size_t asked_ = 0;  // when the last round had begun
  EffortLimit effort_;
};

}  // namespace lapse
