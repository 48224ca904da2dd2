// Counters of ranks. counters.hpp has a table of each struct's fields.
#pragma once

#include <cstdint>

#include "lapse/core/export.hpp"

namespace lapse {

// One rank's counters for one table. An access is one key of a worker's pull, push or set, or one run of its
// elements; each is counted once, as local, queued or remote. A key served by another rank of the domain also
// counts as local: finding the serving rank would add a tenth to the time of an access in memory.
struct LAPSE_EXPORT TableCounters {
  std::uint64_t operations = 0, remote_operations = 0;
  std::uint64_t local_pulls = 0, local_pushes = 0, queued_accesses = 0;
  std::uint64_t remote_pulls = 0, remote_pushes = 0;
  std::uint64_t leased_keys = 0, localized_keys = 0;
  std::uint64_t relocations_in = 0, relocations_out = 0;
  std::uint64_t relocation_nanoseconds = 0, relocation_max_nanoseconds = 0;
  std::uint64_t waiting_nanoseconds = 0, forwarded = 0, held = 0, owner_lookups = 0;
  std::uint64_t copy_pulls = 0, copy_pushes = 0, copies_in = 0, copies_out = 0;
  std::uint64_t deltas_in = 0, deltas_out = 0;
  std::uint64_t refreshes_in = 0, refreshes_out = 0;
  std::uint64_t declined_copies = 0, refused_copies = 0;
  std::uint64_t missed_versions = 0, missed_versions_max = 0;
  std::uint64_t refresh_nanoseconds = 0, refresh_max_nanoseconds = 0;
  std::uint64_t read_samples = 0, stale_versions = 0, stale_versions_max = 0;
  std::uint64_t stale_nanoseconds = 0, stale_max_nanoseconds = 0;
  std::uint64_t checked_rows = 0, not_finite_rows = 0, clipped_rows = 0;
  std::uint64_t clock_waits = 0, clock_waiting_nanoseconds = 0;
  std::uint64_t clocks = 0, clock_lags = 0, clock_lag_max = 0;
  std::uint64_t value_waits = 0, value_waiting_nanoseconds = 0, value_alone = 0;
  std::uint64_t copies_here = 0, keys_here = 0, bytes_here = 0, bytes_of_memory = 0;

  // Adds, except for maxima.
  TableCounters& operator+=(const TableCounters& other);
  bool operator==(const TableCounters&) const = default;
};

}  // namespace lapse
