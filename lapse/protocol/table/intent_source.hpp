// The source of a rank's wants.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/credits.hpp"

namespace lapse {

// Sets when rounds begin.
struct RoundTimes {
  // Time from one round to the next that begins by itself. Nullopt: rounds begin on request only.
  std::optional<std::chrono::microseconds> interval = std::chrono::microseconds(1000);
  // Requests are ignored for this time after a round begins.
  std::chrono::nanoseconds least{0};
  // After sending changes, a rank sends none for `pause` times as long as that has used this processor. This
  // bounds the effort for replicas, however many are written however often. 0: every round sends them.
  unsigned pause = 0;
  // Bytes of changed values that may be in flight to each other rank. Further changes meanwhile are
  // coalesced.
  std::size_t credit_bytes = Credits::kDefaultLimit;
};

// Receives the wants that a round finds. A key may be wanted several times at once; one unwant ends one want.
class WantSink {
 public:
  // Keys of the table, each at most once in a call.
  virtual void want(TableId table, std::span<const Key> keys) LAPSE_REQUIRES(progress_role) = 0;
  virtual void unwant(TableId table, std::span<const Key> keys) LAPSE_REQUIRES(progress_role) = 0;
  // Whether the rank wants the key, or its domain does and the rank serves the key.
  virtual bool is_wanted(TableId /*table*/, Key /*key*/) const LAPSE_REQUIRES(progress_role) { return false; }

 protected:
  ~WantSink() = default;
};

// An access of a worker, sent to another domain, that was chosen (RemoteSamples).
struct RemoteAccess {
  TableId table;
  Key key;
  std::uint32_t worker = 0;  // of this rank
  bool wanted = false;       // the domain wants the key
  bool asked = false;        // and has asked for it, and not been refused
  bool copied = false;       // a replica is here, which this access may not use
  std::uint64_t weight = 0;  // accesses that it stands for
};

// Asked at the beginning of every round of its rank: reports the keys that the rank begins to want, and those
// that it ceases to want. Must not block.
class IntentSource {
 public:
  virtual void begin_round(WantSink& sink) LAPSE_REQUIRES(progress_role) = 0;
  // Returns whether the next round finds something, regardless of the workers' progress until then.
  virtual bool pending() const = 0;
  // Accesses of these workers to other domains are counted.
  virtual bool counts_remote(std::uint32_t /*worker*/) const { return false; }
  virtual void count_remote(const RemoteAccess& /*access*/) LAPSE_REQUIRES(progress_role) {}

 protected:
  ~IntentSource() = default;
};

}  // namespace lapse
