#include "lapse/protocol/key/replica_staleness.hpp"

#include <algorithm>
#include <limits>

#include "lapse/core/role_table.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {

std::uint64_t nanoseconds_of(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(std::max(time, std::chrono::nanoseconds(0)).count());
}

}  // namespace

void note_read(TableShard& table, Key key, Replica::Clock::time_point at) {
  if (direct_access(table.store().word(key).role(), false) != DirectAccess::copy) return;
  Replica& replica = table.copies()->replica(key);
  // Reads beyond this count only by their times.
  if (replica.reads < std::numeric_limits<decltype(replica.reads)>::max()) ++replica.reads;
  TableCounters& counters = table.counters();
  const std::uint64_t nanoseconds = nanoseconds_of(at - replica.refreshed);
  ++counters.read_samples;
  counters.stale_nanoseconds += nanoseconds;
  counters.stale_max_nanoseconds = std::max(counters.stale_max_nanoseconds, nanoseconds);
}

void count_refresh(TableShard& table, Replica& replica, std::uint64_t missed,
                   Replica::Clock::time_point now) {
  TableCounters& counters = table.counters();
  ++counters.refreshes_in;
  const std::uint64_t nanoseconds = nanoseconds_of(now - replica.refreshed);
  counters.missed_versions += missed;
  counters.missed_versions_max = std::max(counters.missed_versions_max, missed);
  counters.refresh_nanoseconds += nanoseconds;
  counters.refresh_max_nanoseconds = std::max(counters.refresh_max_nanoseconds, nanoseconds);
  if (replica.reads == 0) return;
  counters.stale_versions += replica.reads * missed;
  counters.stale_versions_max = std::max(counters.stale_versions_max, missed);
  replica.reads = 0;
}

}  // namespace lapse
