// How many bytes of changes may be in flight between this rank and each other one.
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

// Flow control of REFRESH and DELTA. Both ranks count the bytes of these records. The receiver reports its
// count whenever it has grown by half the limit, and the sender sends while its own count is less than the
// limit ahead of the last report. The limit bounds the effort, too: what changes often is sent once for
// several changes. So a rank that does not run holds at most the limit, and one record, of each sender's
// bytes, kAwaited times as much while something waits for it; and a sender that waits is always sent a report
// once the receiver has handled what is in flight.
//
// Pure. Thread safety: the holder of the progress lock.
class Credits {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{1} << 20;
  // To ranks that wait for all that they lack, so many times as much may be in flight.
  static constexpr std::size_t kAwaited = 4;

  explicit Credits(std::int32_t ranks) : of_(static_cast<std::size_t>(ranks)) {}

  // Before the first record is sent. Must be equal on all ranks, and at least 1.
  void set_limit(std::size_t bytes) { limit_ = bytes; }

  // --- sent

  // Whether a record may be sent to the rank, of any length.
  // `awaited`: this rank waits for the answer.
  bool has(Rank to, bool awaited = false) const {
    const OfRank& rank = of_[to.index()];
    awaited = awaited || rank.awaited || all_awaited_;
    return rank.sent - rank.acknowledged < (awaited ? kAwaited * limit_ : limit_);
  }
  // Whether the rank, or every rank, waits for what this one sends: it runs, and nothing is sent twice.
  void set_awaited(Rank to, bool awaited) { of_[to.index()].awaited = awaited; }
  void set_all_awaited(bool awaited) { all_awaited_ = awaited; }
  void add_sent(Rank to, std::size_t bytes) { of_[to.index()].sent += bytes; }
  // The rank has handled so many bytes in all. Throws ProtocolError when this rank has not sent so many, or
  // the rank has reported more before.
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
  // Calls f(rank, bytes) for each rank that is to be sent a report: how many of its bytes were handled in
  // all.
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
