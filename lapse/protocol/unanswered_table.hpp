// The operations of a worker that are in flight, by key.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/unanswered_count.hpp"

namespace lapse {

struct OperationState;

// One key on which a worker has unanswered operations. Its address is stable while count() is not zero.
struct UnansweredKey {
  struct Held {
    OperationState* operation;
    std::uint32_t item;
  };

  // set by the worker before the operation is submitted
  TableId table;
  Key key;
  // operations submitted, written by the worker, and answered, written by the engine; both wrap
  std::atomic<std::uint32_t> submitted{0};
  std::atomic<std::uint32_t> answered{0};
  // Operations submitted and not yet answered.
  std::uint32_t count() const {
    const std::uint32_t done = answered.load(std::memory_order_acquire);
    return submitted.load(std::memory_order_relaxed) - done;
  }
  // guarded by the progress lock, used while count() is not zero
  Pin pin LAPSE_GUARDED_BY(progress_role);
  // Operations that wait for the route to change, in program order.
  std::vector<Held> held LAPSE_GUARDED_BY(progress_role);
};

// An exact set of the keys on which one worker has unanswered operations, and the route each is pinned to.
//
// Thread safety: add and find by the worker; UnansweredKey::pin, held and finish by the holder of the
// progress lock.
//
// Guarantees:
// 1. total() is zero if and only if nothing is unanswered; then a direct access needs no lookup.
// 2. A key is counted from before an engine can see its operation until after the answer is delivered.
class UnansweredTable {
 public:
  UnansweredTable();

  // Unanswered items of all operations. Worker or engine.
  std::uint32_t total() const { return count_.total(); }
  const UnansweredCount& count() const { return count_; }
  // True when the worker has an unanswered operation on the key.
  bool contains(TableId table, Key key) const {
    if (total() == 0) return false;
    const UnansweredKey* entry = find(table, key);
    return entry != nullptr && entry->count() != 0;
  }

  // Counts one more operation on the key.
  UnansweredKey& add(TableId table, Key key);

  // One operation on the key has been answered; nothing of `entry` may be used afterwards.
  static void finish(UnansweredKey& entry) LAPSE_REQUIRES(progress_role) {
    entry.answered.store(entry.answered.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Counts `items` answers in the total, which may follow later and for many keys at once.
  void finish_total(std::uint32_t items) LAPSE_REQUIRES(progress_role) { count_.finish(items); }
  // Some rank has failed: the worker notices it at its next access.
  void close() LAPSE_REQUIRES(progress_role) { count_.close(); }

 private:
  static constexpr std::size_t kChunk = 256;

  UnansweredKey* find(TableId table, Key key) const;
  UnansweredKey& fresh_entry();
  // Drops entries without unanswered operations; grows when that is not enough.
  void rebuild();
  std::size_t start_of(TableId table, Key key) const;

  UnansweredCount count_;
  // the worker's
  std::vector<UnansweredKey*> positions_;  // open addressing, a power of two
  std::vector<std::size_t> used_;          // occupied positions
  std::vector<std::unique_ptr<UnansweredKey[]>> chunks_;
  std::vector<UnansweredKey*> free_;
};

}  // namespace lapse
