// Finds what a rank still has to do, or waits for, before replicas are merged and refreshed.
#pragma once

#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/table/replica_table.hpp"
#include "lapse/protocol/worker/registry.hpp"
#include "lapse/protocol/worker/unsynced_record.hpp"

namespace lapse {

// Saturates at both ends of the type.
std::uint32_t milliseconds_between(Replica::Clock::time_point since, Replica::Clock::time_point now);

// Returns the first kind that this rank's tables have; Unsynced::nothing if there is none. Does not check
// wants, credit and sync. Scans all records of replicas.
UnsyncedRecord find_unsynced(const Registry& registry, Replica::Clock::time_point now)
    LAPSE_REQUIRES(progress_role);

}  // namespace lapse
