// REFRESHes that wait until the rank that they go to has handled earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/host/number_set.hpp"

namespace lapse {

// For each other rank:
// - the main copies with a member there that is dirty and that no round will visit. When the rank has credit
//   again, the member is sent the value of that time. Main copies take turns.
// - the last REFRESH of each key whose main copy has left meanwhile, as it was then. The new owner does not
//   know of it: a TRANSFER carries no news. A later REFRESH of the same key takes its place: they have no
//   order, and the receiver would drop the earlier one if it came last.
// So what waits for a rank is bounded by the keys of which it holds replicas, however long it does not run.
//
// Pure. Thread safety: the holder of the progress lock.
class RefreshBacklog {
 public:
  explicit RefreshBacklog(std::int32_t ranks) : of_(static_cast<std::size_t>(ranks)) {}

  bool empty() const { return waiting_ == 0; }
  bool empty(Rank to) const { return of_[to.index()].mains == 0 && of_[to.index()].parked.empty(); }

  // --- main copies, by the numbers of their records

  bool has_mains(Rank to) const { return of_[to.index()].mains > 0; }
  void add(Rank to, TableId table, std::uint32_t number);
  // The record is closed.
  void remove(TableId table, std::uint32_t number);
  struct Main {
    TableId table;
    std::uint32_t number;
  };
  // Takes the next one; nullopt where there is none.
  std::optional<Main> take(Rank to);

  // --- REFRESHes of main copies that have left

  struct Parked {
    FrameHeader header;
    std::vector<std::byte> record;
  };
  bool has_parked(Rank to) const { return !of_[to.index()].parked.empty(); }
  // Keeps the record; false where it takes the place of an earlier one, with that one's header.
  bool park(Rank to, Key key, Parked parked);
  // Takes one, of which there must be one.
  Parked take_parked(Rank to);

 private:
  struct OfRank {
    std::vector<NumberSet> of_table;
    std::size_t mains = 0;  // in of_table
    // Where the next turn begins.
    std::size_t table = 0;
    std::uint32_t number = 0;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Parked> parked;  // by table and key
  };

  std::vector<OfRank> of_;
  std::size_t waiting_ = 0;  // of all ranks
};

}  // namespace lapse
