// Sends the changes of main copies to the holders: REFRESH.
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
#include "lapse/protocol/table/refresh_parts.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// At the owner. `number`: of the main copy's record. `content`: value and optimizer state of a key that is
// being drained, else null; with null, a call returns false if a worker leases the key.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. Before the main copy is transferred, what its dirty holders lack is sent, or kept to be sent: a TRANSFER
//    carries no changes for any other domain.
// 2. A rank without credit (Credits) is sent no REFRESH.
class MainRefreshes {
 public:
  using Clock = ArrivalTable::Clock;

  MainRefreshes(const Registry& registry, ReplicaMessages& messages)
      : registry_(registry), messages_(messages), parts_(registry.ranks()), backlog_(registry.ranks()) {}

  // Refreshes the dirty holders that have credit (rule 8), and adds the others to the backlog. If the key is
  // leased, lists the record again.
  void send_refreshes(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // Refreshes one dirty holder if it has credit, else adds it to the backlog.
  bool refresh_in_turn(TableShard& table, std::uint32_t number, Member& to, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // Refreshes all dirty holders, except the new owner, of a main copy that leaves.
  bool send_last_refreshes(TableShard& table, std::uint32_t number, Domain next, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // The key is leased: refreshes its dirty holders when the engine ends the lease.
  void refresh_after_lease(TableShard& table, std::uint32_t number, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // A lease has ended, and the queue has been drained: refreshes the holders that wait for the end.
  void lease_over(TableShard& table, Key key) LAPSE_REQUIRES(progress_role);
  // Sends the part of the backlog that has credit.
  void send_backlog(Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Closes the record of a main copy that has left or has no holder any more.
  void close_record(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);

  // Whether the main copy has a dirty holder that the rank serves.
  static bool is_owed(const TableShard& table, const MainCopy& main, Rank to);

  RefreshParts& parts() LAPSE_REQUIRES(progress_role) { return parts_; }
  const RefreshBacklog& backlog() const LAPSE_REQUIRES(progress_role) { return backlog_; }

 private:
  // Refreshes one dirty holder. `later`: as soon as the holder has credit.
  bool send_refresh(TableShard& table, const MainCopy& main, Member& to, std::byte* content,
                    bool later = false) LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  ReplicaMessages& messages_;
  RefreshParts parts_ LAPSE_GUARDED_BY(progress_role);
  RefreshBacklog backlog_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
