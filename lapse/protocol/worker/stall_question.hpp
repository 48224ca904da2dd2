// What a worker that has waited long asks the engines, and what they answer.
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

// What the serving rank of a domain stores about a key.
struct KeyStanding {
  Role role = Role::absent;
  bool leased = false;
  bool instructed = false;         // an INSTRUCT is queued
  std::uint32_t operations = 0;    // queued
  std::uint32_t requests = 0;      // for a lease, queued
  std::uint32_t milliseconds = 0;  // since the oldest of these was queued, or the key was asked for
  // Of a domain that has a copy, or is about to have or to lose one: what the owner has not answered.
  Replica::Unanswered unanswered = Replica::Unanswered::nothing;
  std::uint32_t copy_milliseconds = 0;  // since it was asked for, refreshed, or given back
  std::optional<Rank> copy_owner = {};  // that it was asked of, or is refreshed by
};

// A key that a worker waits for.
struct AwaitedKey {
  const TableShard* table = nullptr;
  Key key;
  std::optional<OperationKind> kind;  // nothing: a lease
  Rank home;                          // its serving rank in its home's domain
  // By the home's table; or, where the key has not arrived there, the domain that has it or passes it on, if
  // one was found. Nothing: the home has not answered.
  std::optional<Domain> owner;
  Rank owner_rank;                      // its serving rank there
  std::optional<KeyStanding> at_owner;  // nothing: the owner has not answered
  // At the rank that serves the key for the worker's own domain; nothing: it was not asked, or has not
  // answered.
  std::optional<KeyStanding> here = {};
};

// A worker that has not come to a collective call.
struct AbsentWorker {
  Rank rank;
  std::uint32_t worker = 0;  // number among the workers of all ranks
  WorkerActivity activity = WorkerActivity::application;
};

// A rank that still has something to do, or waits for something, until copies are synced.
struct UnsyncedRank {
  Rank rank;
  UnsyncedRecord record;
  const TableShard* table = nullptr;  // null: the record names none
};

// Filled by the worker, then the engine's until `finished` is true.
struct StallQuestion : Submission {
  using Clock = std::chrono::steady_clock;

  WorkerEndpoint* worker = nullptr;  // that asks, if one does
  // When it was asked: it may be answered only when the worker waits for something else.
  Clock::time_point asked{};
  // The question: the keys that the worker waits for; or the workers that have made fewer than so many
  // collective calls in their group; or, without a worker, the workers of ranks of which none has a thread.
  std::optional<std::uint32_t> collective_calls;
  std::uint64_t group = 0;  // of these workers
  bool detached = false;
  bool synced = false;  // it waits, also, until copies are synced: which ranks are not?

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
