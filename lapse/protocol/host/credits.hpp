// Limits the bytes of changes in flight between this rank and each other one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Flow control (credit) of REFRESH and DELTA. Both ranks count the bytes of these records. The receiver
// reports its count whenever it has grown by half the limit. The sender sends while its own count is less
// than the limit ahead of the last report. The limit bounds the effort, too: changes of a value that changes
// often are coalesced. A rank that does not run holds at most the limit, plus one record, of each sender's
// bytes; kAwaited times as much while some rank waits for it. A sender that is out of credit always gets a
// report once the receiver has handled what is in flight.
//
// Pure. Thread safety: the holder of the progress lock.
class Credits {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{1} << 20;
  // Factor of the limit for ranks that wait for all that they lack.
  static constexpr std::size_t kAwaited = 4;

  explicit Credits(std::int32_t ranks) : of_(static_cast<std::size_t>(ranks)) {}

  // Requires a limit of at least 1, equal on all ranks. Called before the first record is sent.
  void set_limit(std::size_t bytes) { limit_ = bytes; }

  // --- sent

  // Whether a record of any length may be sent to the rank. `awaited`: this rank waits for the answer.
  bool has(Rank to, bool awaited = false) const {
    const OfRank& rank = of_[to.index()];
    awaited = awaited || rank.awaited || all_awaited_;
    return rank.sent - rank.acknowledged < (awaited ? kAwaited * limit_ : limit_);
  }
  // Whether the rank, or every rank, waits for what this one sends. Such a rank runs, and nothing is sent to
  // it twice.
  void set_awaited(Rank to, bool awaited) { of_[to.index()].awaited = awaited; }
  void set_all_awaited(bool awaited) { all_awaited_ = awaited; }
  void add_sent(Rank to, std::size_t bytes) { of_[to.index()].sent += bytes; }
  // The rank reports that it has handled `bytes` in all. Throws ProtocolError if this rank has not sent that
  // many, or if the rank has reported more before.
  void acknowledge(Rank from, std::uint64_t bytes) {
    OfRank& rank = of_[from.index()];
    if (bytes > rank.sent || bytes < rank.acknowledged)
      throw ProtocolError("a rank acknowledges bytes that it was not sent");
    rank.acknowledged = bytes;
  }

  // --- received

  void add_received(Rank from, std::size_t bytes) {
    OfRank& rank = of_[from.index()];
    const bool was_due = is_due(rank);
    rank.received += bytes;
    if (!was_due && is_due(rank)) due_.push_back(from);
  }
  bool has_due() const { return !due_.empty(); }
  // Calls f(rank, bytes) for each rank that is due a report; `bytes` counts all of its bytes handled so far.
  template <class F>
  void take_due(F&& f) {
    for (const Rank from : due_) {
      OfRank& rank = of_[from.index()];
      rank.reported = rank.received;
      f(from, rank.received);
    }
    due_.clear();
  }

 private:
  struct OfRank {
    std::uint64_t sent = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t received = 0;
    std::uint64_t reported = 0;
    bool awaited = false;
  };
  bool is_due(const OfRank& rank) const { return rank.received - rank.reported >= (limit_ + 1) / 2; }

  std::size_t limit_ = kDefaultLimit;
  bool all_awaited_ = false;
  std::vector<OfRank> of_;
  std::vector<Rank> due_;
};

}  // namespace lapse
