// The owner's side of replication: acts on the records of main copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/key/key_wants.hpp"
#include "lapse/protocol/key/main_refreshes.hpp"
#include "lapse/protocol/key/replica_messages.hpp"
#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/protocol/table/main_copies.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Handles the messages of holders to the owner of a key that this rank serves.
//
// Thread safety: the holder of the progress lock.
//
// Invariant: every change of a main copy with holders raises its version and marks all holders dirty.
class KeyOwner {
 public:
  using Clock = ArrivalTable::Clock;
  using CopyMessage = KeyQueue::CopyMessage;

  KeyOwner(const Registry& registry, const Router& router, ReplicaMessages& messages, const KeyWants& wants,
           MainRefreshes& refreshes)
      : registry_(registry), router_(router), messages_(messages), wants_(wants), refreshes_(refreshes) {}

  // Handles ON, DELTA or OFF, wherever the owner is (rule 2).
  void take(TableShard& table, Key key, const CopyMessage& message, bool by_home, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // Like take, from the queue of a key that is being drained.
  void take_drained(TableShard& table, Key key, const CopyMessage& message, Slot slot, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // A queued operation has changed the value (rule 4).
  static void changed(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // Called when a lease ends, before the queue is drained: increments the version (rule 29).
  static void lease_ended(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // Offers the key to its only holder (rule 9). Called when the owner ceases to want the key, and when the
  // queue of a key that this domain owns has been drained. `content`: of a key that is being drained, else
  // null.
  void check(TableShard& table, Key key, std::byte* content = nullptr) LAPSE_REQUIRES(progress_role);

 private:
  // --- `content`: see check. Each returns false if the key is leased.

  bool take_at_main(TableShard& table, Key key, const CopyMessage& message, Slot slot, std::byte* content,
                    Clock::time_point now) LAPSE_REQUIRES(progress_role);
  bool take_on(TableShard& table, Key key, Domain from, Slot slot, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  bool take_delta(TableShard& table, Key key, const CopyMessage& message, std::byte* content,
                  Clock::time_point now) LAPSE_REQUIRES(progress_role);
  bool take_off(TableShard& table, Key key, const CopyMessage& message, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // Adds the delta, if any, to the main copy, and marks its holders.
  bool merge(TableShard& table, Key key, const CopyMessage& message, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // Gives the main copy a record, and raises its version.
  bool open_main(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // Called when the main copy has lost its last holder.
  void close_main(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // Calls f(content) with exclusive access to the value.
  template <class F>
  static bool with_main(TableShard& table, Key key, std::byte* content, F&& f) LAPSE_REQUIRES(progress_role);
  Member& member(const TableShard& table, Key key, MainCopy* main, Domain domain) const
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  const Router& router_;
  ReplicaMessages& messages_;
  const KeyWants& wants_;
  MainRefreshes& refreshes_;
};

}  // namespace lapse
