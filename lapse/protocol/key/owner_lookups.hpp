// Reads a key's owner from the memory of its home, without involving the home.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/routes_in_flight.hpp"
#include "lapse/transport/rma/remote_reads.hpp"

namespace lapse {

// Each read in flight is for one worker and key. The owner that is read may be out of date when the read
// finishes. It is used like any cached location: it fills the key's hint, and a wrong hint costs a hop.
//
// Thread safety: the holder of the progress lock.
class OwnerLookups {
 public:
  // `reads`: null if no rank can read from another; then begin must not be called.
  explicit OwnerLookups(RemoteReads* reads) : reads_(reads) {}

  // Whether an operation that may wait is better sent when the key's owner is known: it would go to the home
  // of another domain for want of a cached location, and none of the worker's operations on the key is in
  // flight or held.
  static bool are_of_use(const KeyView& view, const Pin& pin) {
    return view.direct == DirectAccess::nothing && view.handling == Handling::forward && !view.hint &&
           view.home != view.self && pin.unanswered == 0 && !pin.holds;
  }
  // Starts reading the key's owner. Meanwhile, `waiting` holds the worker's operations on the key.
  void begin(TableShard& table, Key key, PinnedKey& waiting) LAPSE_REQUIRES(progress_role);
  // Called when a read has finished: stores the owner as the key's hint, if it has none. Returns the key
  // that waits.
  PinnedKey& finish(const RemoteReads::Finished& read) LAPSE_REQUIRES(progress_role);

 private:
  struct Reading {
    TableShard* table;
    PinnedKey* waiting;
  };

  RemoteReads* reads_;
  std::vector<Reading> readings_ LAPSE_GUARDED_BY(progress_role);  // by the tag of the read
  std::vector<std::uint64_t> free_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
