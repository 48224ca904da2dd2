// Finds the operations of a worker that are in flight, by key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/export.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/unanswered_count.hpp"
#include "lapse/protocol/worker/begun_operations.hpp"
#include "lapse/protocol/worker/recent_keys.hpp"

namespace lapse {

// An exact set of the keys on which one worker has unanswered operations.
//
// The set consists of the items of its operations. They enter a hash table only when a question needs it: a
// worker whose keys are all absent from memory, or that waits for each operation, never pays for it.
//
// Thread safety: the worker. finish_total, close, open: the holder of the progress lock.
//
// Guarantees:
// 1. total() is zero if and only if nothing is unanswered; then a direct access needs no lookup.
// 2. A key is counted from before an engine can see its operation until after the answer is delivered.
// 3. If begin throws std::bad_alloc, it has no effect.
class UnansweredTable {
 public:
  // Tests use smaller ones.
  struct Limits {
    std::uint32_t unanswered = limits::kUnansweredKeys;
    std::uint32_t unasked = std::uint32_t{1} << 30;  // operations without a question
  };
  UnansweredTable() : UnansweredTable(Limits()) {}
  explicit UnansweredTable(const Limits& limits) : limits_(limits) {}

  // Unanswered items of all operations. Callers: the worker or the engine.
  std::uint32_t total() const { return count_.total(); }
  const UnansweredCount& count() const { return count_; }
  UnansweredCount& count() { return count_; }
  // True if the worker has an unanswered operation on the key.
  bool contains(TableId table, Key key) { return total() != 0 && find(table, key); }

  // Whether an operation of `items` items, at most limits::kKeysOfCall, may begin. True if total() is 0.
  bool has_room(std::size_t items) const {
    const std::size_t unanswered = total();
    return unanswered == 0 || unanswered + items <= limits_.unanswered;
  }

  // Makes `operation`, which has no items yet, the one that the next items belong to, and sets its place.
  void begin(OperationState& operation, TableId table);
  // Counts the next items of the last operation begun.
  void add(std::uint32_t items = 1) { count_.add(items); }
  // Counts `items` answers.
  void finish_total(std::uint32_t items) LAPSE_REQUIRES(progress_role) { count_.finish(items); }
  // Some rank has failed: makes the worker notice it at its next access.
  void close() LAPSE_REQUIRES(progress_role) { count_.close(); }
  // The worker begins anew in another seat.
  void open() LAPSE_REQUIRES(progress_role) { count_.open(); }

  // The cost of a question: the size of the hash table, and the number of operations that may be unanswered.
  std::size_t slots() const { return keys_.slots(); }
  std::size_t operations() const { return begun_.all().size(); }

 private:
  LAPSE_EXPORT_INNER bool find(TableId table, Key key);
  // Enters the items that were added since the last question.
  void enter_items();

  UnansweredCount count_;
  BegunOperations begun_;
  std::uint32_t next_ = 1;  // number of the next operation
  // By key and table, with the index of an operation's last item of the key. The items of all operations
  // before number `entering_`, and its first `entered_` items.
  RecentKeys keys_;
  std::uint32_t entering_ = 1;
  std::size_t entered_ = 0;
  std::uint64_t key_bits_ = 0;  // of all keys that were entered
  const Limits limits_;
};

}  // namespace lapse
