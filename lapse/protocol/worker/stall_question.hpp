// The questions of a worker that has waited long, and the engines' answers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/operation_kind.hpp"
#include "lapse/protocol/table/replica_table.hpp"
#include "lapse/protocol/worker/unsynced_record.hpp"
#include "lapse/protocol/worker/worker_activity.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

class TableShard;
class WorkerEndpoint;

// The state of a key at a domain's serving rank.
struct KeyStanding {
  Role role = Role::absent;
  bool leased = false;
  bool instructed = false;         // an INSTRUCT is queued
  std::uint32_t operations = 0;    // queued
  std::uint32_t requests = 0;      // for a lease, queued
  std::uint32_t milliseconds = 0;  // since the oldest of these was queued, or the key was requested
  // If the domain has a replica, or is about to get or to lose one: the message that the owner has not
  // answered.
  Replica::Unanswered unanswered = Replica::Unanswered::nothing;
  std::uint32_t copy_milliseconds = 0;  // since the replica was requested, refreshed, or given up
  std::optional<Rank> copy_owner = {};  // the owner that was asked for it, or refreshes it
};

// A key that a worker waits for.
struct AwaitedKey {
  const TableShard* table = nullptr;
  Key key;
  std::optional<OperationKind> kind;  // nullopt: a lease
  Rank home;                          // its serving rank in its home's domain
  // According to the home's table; if the key has not arrived there: the domain found to have it or to pass
  // it on, if any. Nullopt: the home has not answered.
  std::optional<Domain> owner;
  Rank owner_rank;                      // its serving rank there
  std::optional<KeyStanding> at_owner;  // nullopt: the owner has not answered
  // At the rank that serves the key for the worker's own domain; nullopt: it was not asked or has not
  // answered.
  std::optional<KeyStanding> here = {};
};

// A worker that has not arrived at a collective call.
struct AbsentWorker {
  Rank rank;
  std::uint32_t worker = 0;  // number among the workers of all ranks
  WorkerActivity activity = WorkerActivity::application;
};

// A rank that still has to do something, or waits for something, before replicas are synced.
struct UnsyncedRank {
  Rank rank;
  UnsyncedRecord record;
  const TableShard* table = nullptr;  // null: the record names none
};

// Filled by the worker; owned by the engine from submission until `finished` is true.
struct StallQuestion : Submission {
  using Clock = std::chrono::steady_clock;

  WorkerEndpoint* worker = nullptr;  // the worker that asks, if any
  // When it was asked. The answer may arrive when the worker already waits for something else.
  Clock::time_point asked{};
  // The question: the keys that the worker waits for; or, if set, the workers of the group that have made
  // fewer than `collective_calls` in it; or, without a worker, the workers of ranks that have no thread for
  // any.
  std::optional<std::uint32_t> collective_calls;
  std::uint64_t group = 0;  // of these workers
  // Or, if set, the workers of the group whose level is below it.
  std::optional<std::int64_t> level;
  bool detached = false;
  bool synced = false;  // also waits until replicas are synced: which ranks are not?

  // The answers.
  std::vector<AwaitedKey> keys;  // the first few
  std::uint64_t further_keys = 0;
  std::vector<AbsentWorker> absent;  // the first few of each rank
  std::uint64_t further_absent = 0;
  std::vector<UnsyncedRank> unsynced;
  std::vector<Rank> silent;  // ranks that were asked and have not answered
  std::atomic<bool> finished{true};
};

}  // namespace lapse
