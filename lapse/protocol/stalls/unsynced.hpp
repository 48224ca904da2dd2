// What a rank still has to do, or waits for, until copies of values are merged and refreshed.
#pragma once

#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/table/replica_table.hpp"
#include "lapse/protocol/worker/registry.hpp"
#include "lapse/protocol/worker/unsynced_record.hpp"

namespace lapse {

// No more than can be stored, no less than 0.
std::uint32_t milliseconds_between(Replica::Clock::time_point since, Replica::Clock::time_point now);

// Of the tables of this rank, the first kind there is; nothing, wants, credit and sync are the caller's
// concern. Looks at all records of copies.
UnsyncedRecord find_unsynced(const Registry& registry, Replica::Clock::time_point now)
    LAPSE_REQUIRES(progress_role);

}  // namespace lapse
