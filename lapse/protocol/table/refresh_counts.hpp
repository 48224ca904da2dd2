// Counts the REFRESHes that were exchanged with each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse {

// Detects that all REFRESHes have arrived that a rank sent before it answered a sync of this rank. REFRESHes
// may overtake other messages and each other, so both ranks count them. Each REFRESH carries its generation
// (`epoch`): the number of the receiver's last sync that the sender had answered. Later generations are
// ignored.
//
// Pure. Thread safety: the holder of the progress lock.
class RefreshCounts {
 public:
  explicit RefreshCounts(std::int32_t ranks) : of_(static_cast<std::size_t>(ranks)) {}

  // --- sent

  std::uint64_t epoch(Rank to) const { return of_[to.index()].epoch; }
  void add_sent(Rank to) { ++of_[to.index()].sent; }
  // Answers the rank's sync `number`. Returns how many REFRESHes the rank has been sent so far.
  std::uint64_t answer(Rank to, std::uint64_t number) {
    of_[to.index()].epoch = number;
    return of_[to.index()].sent;
  }

  // --- received

  // Begins this rank's next sync. Requires that every rank that was asked has answered the last one.
  void begin(std::uint64_t number) {
    sync_ = number;
    for (OfRank& rank : of_) {
      rank.before += rank.behind;
      rank.behind = 0;
    }
  }
  void add_received(Rank from, std::uint64_t epoch, std::uint32_t count) {
    OfRank& rank = of_[from.index()];
    (epoch < sync_ ? rank.before : rank.behind) += count;
  }
  // Counts those that the rank had sent before it answered the last sync that has begun.
  std::uint64_t received(Rank from) const { return of_[from.index()].before; }

 private:
  struct OfRank {
    std::uint64_t epoch = 0;
    std::uint64_t sent = 0;
    std::uint64_t before = 0;  // received: sent before the answer to the last sync
    std::uint64_t behind = 0;  // received: sent after it
  };
  std::vector<OfRank> of_;
  std::uint64_t sync_ = 0;
};

}  // namespace lapse
