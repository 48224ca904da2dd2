// Measures how old replicas are when workers read them and when they are refreshed.
#pragma once

#include <chrono>
#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/replica_table.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Counts the age of the domain's replica of the key, as far as it is known, when a worker read it at `at`.
void note_read(TableShard& table, Key key, Replica::Clock::time_point at) LAPSE_REQUIRES(progress_role);

// Counts a REFRESH that brings the replica forward by `missed` versions.
void count_refresh(TableShard& table, Replica& replica, std::uint64_t missed, Replica::Clock::time_point now)
    LAPSE_REQUIRES(progress_role);

}  // namespace lapse
