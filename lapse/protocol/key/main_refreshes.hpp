// The changes of main copies, on their way to the holders: REFRESH.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/key/refresh_backlog.hpp"
#include "lapse/protocol/key/replica_messages.hpp"
#include "lapse/protocol/table/arrival_table.hpp"
#include "lapse/protocol/table/main_copies.hpp"
#include "lapse/protocol/table/refresh_counts.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// At the owner. `number`: of the main copy's record. `content`: the value and optimizer state of a key that
// is being drained, else null; then a call returns false if a worker leases the key.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. Before the main copy is transferred, what its dirty holders lack is sent, or kept to be sent: a TRANSFER
//    carries no news for any other domain.
// 2. A rank that has no credit (Credits) is sent no REFRESH.
class MainRefreshes {
 public:
  using Clock = ArrivalTable::Clock;

  MainRefreshes(const Registry& registry, ReplicaMessages& messages)
      : registry_(registry), messages_(messages), counts_(registry.ranks()), backlog_(registry.ranks()) {}

  // To the dirty holders that have credit (rule 8); the others come into the backlog. If the key is leased,
  // the record is listed again.
  void send_refreshes(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // To one dirty holder that has credit, else into the backlog.
  bool refresh_in_turn(TableShard& table, std::uint32_t number, Member& to, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // To the dirty holders of a main copy that leaves, all but its new owner.
  bool send_last_refreshes(TableShard& table, std::uint32_t number, Domain next, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // The key is leased: its dirty holders are sent what they lack when the engine ends the lease.
  void refresh_after_lease(TableShard& table, std::uint32_t number, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // A lease has ended, and the queue has been drained: holders that wait for the end are sent what they lack.
  void lease_over(TableShard& table, Key key) LAPSE_REQUIRES(progress_role);
  // What of the backlog has credit.
  void send_backlog(Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Closes the record: its main copy has left, or has no holder any more.
  void close_record(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);

  // Whether the main copy has a dirty holder that the rank serves.
  static bool is_owed(const TableShard& table, const MainCopy& main, Rank to);

  RefreshCounts& counts() LAPSE_REQUIRES(progress_role) { return counts_; }
  const RefreshBacklog& backlog() const LAPSE_REQUIRES(progress_role) { return backlog_; }

 private:
  // To one dirty holder. `later`: as soon as the holder has credit.
  bool send_refresh(TableShard& table, const MainCopy& main, Member& to, std::byte* content,
                    bool later = false) LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  ReplicaMessages& messages_;
  RefreshCounts counts_ LAPSE_GUARDED_BY(progress_role);
  RefreshBacklog backlog_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
