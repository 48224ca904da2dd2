// A worker's request for grants to change keys.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/worker/group_number.hpp"
#include "lapse/protocol/worker/worker_level.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

class TableShard;
class WorkerEndpoint;

// The keys of one table that a worker is going to change, of which the changes of all workers are bounded.
// The worker fills it and submits it to Budgets, which grants the keys in any order. The worker changes each
// as soon as it is granted, waits for no other worker in between, and says, once its change is answered, in
// which epoch all copies show it. It is the engine's from begin() until is_idle().
//
// Thread safety: a worker and its rank's engine; the members say who calls them.
class GrantRequest : public Submission {
 public:
  // A magnitude is positive.
  struct Item {
    Key key;
    double magnitude = 0;
  };

  explicit GrantRequest(WorkerEndpoint& worker) : worker_(worker) {}

  // --- the worker

  bool is_idle() const { return state_.load(std::memory_order_acquire) == State::idle; }
  // Requires is_idle(). Throws std::bad_alloc, and is idle then.
  void begin(TableShard& table, double bound, std::vector<Item> items) {
    granted_.resize(items.size());
    written_.resize(items.size());
    table_ = &table;
    bound_ = bound;
    items_ = std::move(items);
    grants_.store(0, std::memory_order_relaxed);
    waits_.store(0, std::memory_order_relaxed);
    writes_.store(0, std::memory_order_relaxed);
    is_abandoned_.store(false, std::memory_order_relaxed);
    state_.store(State::asked, std::memory_order_release);
  }
  const std::vector<Item>& items() const { return items_; }
  // How many items are granted, and which: 0 <= at < grants().
  std::size_t grants() const { return grants_.load(std::memory_order_acquire); }
  std::uint32_t granted(std::size_t at) const { return granted_[at]; }
  // How many of them had to wait for changes of other workers.
  std::size_t waits() const { return waits_.load(std::memory_order_relaxed); }
  // Each granted item, once: its change is answered, and in all copies when this epoch is visible.
  void written(std::uint32_t item, Level need) {
    const std::size_t at = writes_.load(std::memory_order_relaxed);
    written_[at] = {item, need};
    writes_.store(at + 1, std::memory_order_release);
  }
  // The worker changes no further item. The engine gives up the others when the worker's operations are
  // answered.
  void abandon() { is_abandoned_.store(true, std::memory_order_release); }
  // After begin, written and abandon: whether the worker must submit the request.
  bool raise() { return queued_.raise(); }

  // --- the engine

  WorkerEndpoint& worker() const { return worker_; }
  // Before it reads what the worker has said.
  void taken() { queued_.taken(); }
  // Whether it takes a new request now, of a worker of this group.
  bool begin_turn(GroupNumber group) {
    if (state_.load(std::memory_order_acquire) != State::asked) return false;
    state_.store(State::reserving, std::memory_order_relaxed);
    taken_ = 0;
    group_ = group;
    return true;
  }
  // The worker may have another seat by now.
  GroupNumber group() const { return group_; }
  TableShard& table() const { return *table_; }
  double bound() const { return bound_; }
  void grant(std::uint32_t item, bool has_waited) {
    const std::size_t at = grants_.load(std::memory_order_relaxed);
    granted_[at] = item;
    if (has_waited) waits_.fetch_add(1, std::memory_order_relaxed);
    grants_.store(at + 1, std::memory_order_release);
  }
  // Calls f(item, need) for each change that was answered since the last call.
  template <class F>
  void take_written(F&& f) {
    for (const std::size_t end = writes_.load(std::memory_order_acquire); taken_ < end; ++taken_)
      f(items_[written_[taken_].item], written_[taken_].need);
  }
  bool is_abandoned() const { return is_abandoned_.load(std::memory_order_acquire); }
  // Whether every item is granted and taken.
  bool is_complete() const { return taken_ == items_.size(); }
  // Calls f(item) for each that is granted and not taken.
  template <class F>
  void for_each_unwritten(F&& f) const {
    const auto has_taken = [this](std::uint32_t item) {
      for (std::size_t i = 0; i < taken_; ++i)
        if (written_[i].item == item) return true;
      return false;
    };
    for (std::size_t i = 0; i < grants_.load(std::memory_order_relaxed); ++i)
      if (!has_taken(granted_[i])) f(items_[granted_[i]]);
  }
  void finish() { state_.store(State::idle, std::memory_order_release); }

 private:
  enum class State : std::uint8_t { idle, asked, reserving };
  struct Written {
    std::uint32_t item = 0;
    Level need = 0;
  };

  WorkerEndpoint& worker_;
  // the worker's while idle, then constant
  TableShard* table_ = nullptr;
  double bound_ = 0;
  std::vector<Item> items_;
  // self-synchronised: entries below a count are constant
  std::atomic<State> state_{State::idle};
  std::atomic<bool> is_abandoned_{false};
  std::vector<std::uint32_t> granted_;
  std::atomic<std::size_t> grants_{0};
  std::atomic<std::size_t> waits_{0};
  std::vector<Written> written_;
  std::atomic<std::size_t> writes_{0};
  QueuedFlag queued_;
  // the engine's
  std::size_t taken_ = 0;
  GroupNumber group_ = kAllWorkers;
};

}  // namespace lapse
