// Sends the changes of a domain's replicas to the owners: DELTA and OFF.
#pragma once

#include <cstdint>
#include <utility>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/key/replica_messages.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// All calls require that this domain holds a replica without an unanswered message. `number`: of its record.
//
// Thread safety: the holder of the progress lock.
// Guarantee: a delta is never dropped; it is merged into the main copy before the slot of the replica is
// released.
class ReplicaDeltas {
 public:
  using Path = ReplicaMessages::Path;

  explicit ReplicaDeltas(ReplicaMessages& messages) : messages_(messages) {}

  // False if the replica has not changed: nothing is sent.
  bool send_delta(TableShard& table, Key key, std::uint32_t number, const Path& path)
      LAPSE_REQUIRES(progress_role);
  // Called in a round (rule 21). False if the changes cannot be sent yet: then the record is marked.
  bool send_marked(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // Sends OFF, with the last changes: the replica is closing.
  void drop(TableShard& table, Key key, std::uint32_t number) LAPSE_REQUIRES(progress_role);

  // Whether a sync or a level of this rank waits for the answers to its DELTAs.
  void set_awaited(bool awaited) LAPSE_REQUIRES(progress_role) { awaited_ = awaited; }
  // Whether a lack of credit has prevented the sending of changes since the last call.
  bool take_waits_for_credit() LAPSE_REQUIRES(progress_role) {
    return std::exchange(waits_for_credit_, false);
  }

 private:
  ReplicaMessages& messages_;
  bool waits_for_credit_ LAPSE_GUARDED_BY(progress_role) = false;
  bool awaited_ LAPSE_GUARDED_BY(progress_role) = false;
};

}  // namespace lapse
