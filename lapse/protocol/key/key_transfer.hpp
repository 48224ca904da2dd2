// Moves main copies in tables that may have replicas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/key/key_wants.hpp"
#include "lapse/protocol/key/main_refreshes.hpp"
#include "lapse/protocol/records/relocation_records.hpp"
#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/table/arrival_table.hpp"
#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// The part of a relocation that concerns replicas: an owner that still wants the key stays as a holder, and
// the list of holders travels with the main copy.
//
// Thread safety: the holder of the progress lock.
class KeyTransfer {
 public:
  using Clock = ArrivalTable::Clock;

  KeyTransfer(const Registry& registry, Outbox& outbox, const KeyWants& wants, MainRefreshes& refreshes)
      : registry_(registry), outbox_(outbox), wants_(wants), refreshes_(refreshes) {}

  // At the owner: rule 10. False if the key is leased.
  bool give_up(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // Like give_up, while the queue of the key is being drained; `slot` stores its value.
  void give_up_drained(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Slot slot,
                       Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // At the new owner: rule 11 up to the draining of the queue. Stores the value; the key is still arriving.
  // Returns the key's slot.
  Slot arrive(TableShard& table, Key key, const std::byte* moved, std::span<const MemberRecord> members)
      LAPSE_REQUIRES(progress_role);

 private:
  // A main copy that leaves: its TRANSFER, and the replica that stays, if any.
  struct Leaving {
    std::optional<std::uint32_t> main;     // number of its record
    std::optional<std::uint32_t> replica;  // number of the record
    std::byte* record = nullptr;           // in the message
    std::size_t members = 0;               // holders sent with it
    bool raises = false;                   // raises the version, because there were no holders
  };
  Leaving begin_leaving(TableShard& table, Key key, const KeyQueue::Instruct& instruct, std::byte* content,
                        Slot slot, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Fills the TRANSFER, and makes the value a replica, or one whose slot may be released.
  void leave(TableShard& table, Key key, const KeyQueue::Instruct& instruct, const Leaving& leaving,
             std::byte* content) LAPSE_REQUIRES(progress_role);
  void finish_leaving(TableShard& table, const Leaving& leaving) LAPSE_REQUIRES(progress_role);
  void cancel_leaving(TableShard& table, const Leaving& leaving) LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  const KeyWants& wants_;
  MainRefreshes& refreshes_;
};

}  // namespace lapse
