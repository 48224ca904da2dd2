// Where a rank's wants come from.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/credits.hpp"

namespace lapse {

// When rounds begin.
struct RoundTimes {
  // So long after a round the next one begins by itself; nothing: rounds follow requests alone.
  std::optional<std::chrono::microseconds> interval = std::chrono::microseconds(1000);
  // Requests are left out for so long after a round begins.
  std::chrono::nanoseconds least{0};
  // After changes were sent, so many times as long as that has taken this processor none are sent: the effort
  // for replicas is bounded, however many of them are written how often. 0: every round sends them.
  unsigned pause = 0;
  // How many bytes of changed values may be in flight to each other rank. What changes again meanwhile is
  // sent once.
  std::size_t credit_bytes = Credits::kDefaultLimit;
};

// Takes what a round has found. A key may be wanted several times at once; each want is ended by one unwant.
class WantSink {
 public:
  // Keys of the table, each at most once in a call.
  virtual void want(TableId table, std::span<const Key> keys) LAPSE_REQUIRES(progress_role) = 0;
  virtual void unwant(TableId table, std::span<const Key> keys) LAPSE_REQUIRES(progress_role) = 0;

 protected:
  ~WantSink() = default;
};

// Is asked at the beginning of every round of its rank which keys the rank wants from now on, and which no
// longer. Must not block.
class IntentSource {
 public:
  virtual void begin_round(WantSink& sink) LAPSE_REQUIRES(progress_role) = 0;
  // Whether the next round finds something, however far the workers get until then.
  virtual bool pending() const = 0;

 protected:
  ~IntentSource() = default;
};

}  // namespace lapse
