// Who owns a key, read in the memory of its home without the home's help.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/table_shard.hpp"
#include "lapse/protocol/unanswered_table.hpp"
#include "lapse/transport/remote_reads.hpp"

namespace lapse {

// The reads that are under way, each for one worker and key. What is read may be out of date when it comes;
// it is worth as much as any cached location: it fills the key's hint, and a wrong one costs a hop.
//
// Thread safety: the holder of the progress lock.
class OwnerLookups {
 public:
  // `reads`: null where no rank can read from another; then begin is not called.
  explicit OwnerLookups(RemoteReads* reads) : reads_(reads) {}

  // Reads the key's owner. `waiting` is where the worker's operations on the key wait meanwhile.
  void begin(TableShard& table, Key key, UnansweredKey& waiting) LAPSE_REQUIRES(progress_role);
  // A read has finished and its key has a hint, if it can use one. Returns what waited.
  UnansweredKey& finish(const RemoteReads::Finished& read) LAPSE_REQUIRES(progress_role);

 private:
  struct Reading {
    TableShard* table;
    UnansweredKey* waiting;
  };

  RemoteReads* reads_;
  std::vector<Reading> readings_ LAPSE_GUARDED_BY(progress_role);  // by the tag of the read
  std::vector<std::uint64_t> free_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
