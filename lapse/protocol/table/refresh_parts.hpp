// Counts the REFRESHes that were exchanged with each rank, in parts.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A rank promises another one at times that it has sent all REFRESHes that were due: as the answer to a sync,
// or with a level. REFRESHes may overtake such a promise and each other. So those to each rank form *parts*:
// each REFRESH carries the number of its part (FrameHeader::operation), and a promise ends the part and
// carries its number and how many REFRESHes it has. The promise is kept when that part and all before it are
// complete. A count over all parts would not do: a REFRESH of a later part would stand for a slow one.
//
// Pure. Thread safety: the holder of the progress lock.
class RefreshParts {
 public:
  struct Part {
    std::uint64_t number = 0;
    std::uint64_t refreshes = 0;
  };

  explicit RefreshParts(std::int32_t ranks) : of_(static_cast<std::size_t>(ranks)) {}

  // --- sent

  // The number of the open part.
  std::uint64_t open_part(Rank to) const { return of_[to.index()].open.number; }
  void add_sent(Rank to) { ++of_[to.index()].open.refreshes; }
  // Ends the open part.
  Part end_part(Rank to) {
    Part& open = of_[to.index()].open;
    const Part ended = open;
    open = {ended.number + 1, 0};
    return ended;
  }

  // --- received

  // Throws ProtocolError if the part has ended with fewer REFRESHes.
  void add_received(Rank from, std::uint64_t part, std::uint32_t count) {
    OfRank& rank = of_[from.index()];
    part_of(rank, part).received += count;
    take_complete(rank);
  }
  // The rank has ended the part. Throws ProtocolError if it has done so before, or with fewer REFRESHes than
  // have arrived.
  void ended(Rank from, const Part& part) {
    OfRank& rank = of_[from.index()];
    Incoming& incoming = part_of(rank, part.number);
    if (incoming.sent) throw ProtocolError("a part of REFRESHes has ended twice");
    incoming.sent = part.refreshes;
    take_complete(rank);
  }
  // How many parts of the rank are complete, from its first on without a gap. So part n, counted from 0, and
  // all before it are complete if this is above n.
  std::uint64_t complete(Rank from) const { return of_[from.index()].complete; }

 private:
  struct Incoming {
    std::uint64_t received = 0;
    std::optional<std::uint64_t> sent;  // nullopt: it has not ended yet
  };
  struct OfRank {
    Part open;
    std::uint64_t complete = 0;
    std::deque<Incoming> incoming;  // the parts after those
  };
  // Promises are answered or awaited one after the other.
  static constexpr std::uint64_t kMaxIncomplete = std::uint64_t{1} << 20;

  static Incoming& part_of(OfRank& rank, std::uint64_t number) {
    const std::uint64_t at = number - rank.complete;
    if (number < rank.complete || at >= kMaxIncomplete)
      throw ProtocolError("a part of REFRESHes that is complete, or has not begun");
    if (rank.incoming.size() <= at) rank.incoming.resize(at + 1);
    return rank.incoming[at];
  }
  static void take_complete(OfRank& rank) {
    while (!rank.incoming.empty() && rank.incoming.front().sent) {
      const Incoming& first = rank.incoming.front();
      if (first.received > *first.sent) throw ProtocolError("more REFRESHes than their part has");
      if (first.received < *first.sent) return;
      rank.incoming.pop_front();
      ++rank.complete;
    }
  }

  std::vector<OfRank> of_;
};

}  // namespace lapse
