// REFRESHes that wait until their destination has handled earlier ones (backpressure).
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

// Stores for each other rank:
// - the main copies with a dirty holder there that no round will visit. When the rank has credit again, the
//   holder is sent the value of that time. Main copies take turns.
// - the last REFRESH of each key whose main copy has left meanwhile, as it was then. The new owner does not
//   know of it: a TRANSFER carries no changes. A later REFRESH of the same key replaces it: they have no
//   order, and the receiver would drop the earlier one if it arrived last.
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
  // Called when the record is closed.
  void remove(TableId table, std::uint32_t number);
  struct Main {
    TableId table;
    std::uint32_t number;
  };
  // Removes and returns the next one; nullopt if there is none.
  std::optional<Main> take(Rank to);

  // --- REFRESHes of main copies that have left

  struct Parked {
    FrameHeader header;
    std::vector<std::byte> record;
  };
  bool has_parked(Rank to) const { return !of_[to.index()].parked.empty(); }
  // Keeps the record. False if it replaces an earlier one, whose header it keeps.
  bool park(Rank to, Key key, Parked parked);
  // Removes and returns a parked record. Requires has_parked(to).
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
