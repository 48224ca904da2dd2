// Checks replicas after everything has been merged and refreshed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse::test {

// Checks one table after quiescing (synced): each key has one owner, and every other domain is absent or
// holds a replica whose bytes equal the owner's value. `shards`: of all ranks, by rank. `wants`: whether a
// domain wants a key; only then it may hold a replica. `keys`: names of the keys that exist. Returns the
// number of replicas. Throws HistoryViolation. No engine and no worker may run meanwhile.
std::size_t check_replicas_at_rest(std::span<const TableShard* const> shards, std::span<const Key> keys,
                                   const std::function<bool(Domain, Key)>& wants);

}  // namespace lapse::test
