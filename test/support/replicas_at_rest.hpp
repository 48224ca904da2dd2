// Replicas when everything has been merged and refreshed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse::test {

// For one table, after quiescing (synced): each key has one owner, and every other domain is absent or holds
// a replica whose value is, byte by byte, the owner's. `shards`: of all ranks, by rank; `wants`: whether a
// domain wants a key, for only then it may hold a replica; `keys`: by name, of those that exist. Returns how
// many replicas there are. Throws HistoryViolation. Used while no engine and no worker runs.
std::size_t check_replicas_at_rest(std::span<const TableShard* const> shards, std::span<const Key> keys,
                                   const std::function<bool(Domain, Key)>& wants);

}  // namespace lapse::test
