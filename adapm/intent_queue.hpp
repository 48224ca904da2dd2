// The intents of one worker, in the order in which they become due.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// What a worker does with the keys of an intent.
enum class IntentType : std::uint8_t { read_write, read_only };

// A worker will access keys of a table while its clock is at least `start` and below `end`.
struct Intent {
  lapse::TableId table;
  lapse::Clock start;
  lapse::Clock end;
  IntentType type = IntentType::read_write;
  std::vector<lapse::Key> keys;
};

// An intent waits, costs nothing for each of its keys meanwhile, and is looked at twice: when it becomes
// actionable, and when it has ended after that. One that ends before it becomes actionable is dropped.
//
// Thread safety: add by any thread, for instance one that loads data for the worker; everything else by one
// thread at a time.
class IntentQueue {
 public:
  // Copies the keys; start < end. Waits for no other thread but for one that is in add or begins a round.
  void add(lapse::TableId table, std::span<const lapse::Key> keys, lapse::Clock start, lapse::Clock end,
           IntentType type) LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    std::vector<lapse::Key> block;
    if (!free_.empty()) {
      block = std::move(free_.back());
      free_.pop_back();
    }
    block.assign(keys.begin(), keys.end());
    added_.push_back({table, start, end, type, std::move(block)});
  }

  // A round begins while the worker's clock is `now`; intents that start before `cutoff` are actionable.
  // Calls on(intent) for each that is actionable from this round on, in the order of their starts, and
  // off(intent) for each that was and has ended.
  template <class On, class Off>
  void begin_round(lapse::Clock now, lapse::Clock cutoff, On&& on, Off&& off) LAPSE_EXCLUDES(mutex_) {
    take_added();
    while (!waiting_.empty() && waiting_.front().start < cutoff) {
      Intent intent = pop(waiting_, ByStart());
      if (intent.end <= now) {
        keep(std::move(intent));
        continue;
      }
      on(std::as_const(intent));
      push(active_, std::move(intent), ByEnd());
    }
    while (!active_.empty() && active_.front().end <= now) {
      Intent intent = pop(active_, ByEnd());
      off(std::as_const(intent));
      keep(std::move(intent));
    }
    give_back();
  }
  // The worker's phase ends, and with it all its intents: off(intent) for each that was actionable.
  template <class Off>
  void end_all(Off&& off) LAPSE_EXCLUDES(mutex_) {
    take_added();
    for (const Intent& intent : active_) off(intent);
    active_.clear();
    waiting_.clear();
  }

  // Intents that are not yet actionable, beside those added since the last round; and those that are.
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t active() const { return active_.size(); }

 private:
  // As std::push_heap wants it: the first of the heap is the last in this order.
  struct ByStart {
    bool operator()(const Intent& a, const Intent& b) const { return a.start > b.start; }
  };
  struct ByEnd {
    bool operator()(const Intent& a, const Intent& b) const { return a.end > b.end; }
  };
  template <class Order>
  static void push(std::vector<Intent>& heap, Intent intent, Order order) {
    heap.push_back(std::move(intent));
    std::ranges::push_heap(heap, order);
  }
  template <class Order>
  static Intent pop(std::vector<Intent>& heap, Order order) {
    std::ranges::pop_heap(heap, order);
    Intent intent = std::move(heap.back());
    heap.pop_back();
    return intent;
  }

  void take_added() LAPSE_EXCLUDES(mutex_) {
    {
      const lapse::MutexLock guard(mutex_);
      taken_.swap(added_);
    }
    for (Intent& intent : taken_) push(waiting_, std::move(intent), ByStart());
    taken_.clear();
  }
  // The memory of its keys is used again.
  void keep(Intent intent) { ended_.push_back(std::move(intent.keys)); }
  void give_back() LAPSE_EXCLUDES(mutex_) {
    if (ended_.empty()) return;
    const lapse::MutexLock guard(mutex_);
    // As many as are in use at a time: what one round frees, the next ones need.
    for (std::vector<lapse::Key>& keys : ended_) {
      if (free_.size() <= active_.size()) free_.push_back(std::move(keys));
    }
    ended_.clear();
  }

  lapse::Mutex mutex_;
  std::vector<Intent> added_ LAPSE_GUARDED_BY(mutex_);
  std::vector<std::vector<lapse::Key>> free_ LAPSE_GUARDED_BY(mutex_);
  // the rounds'
  std::vector<Intent> taken_;
  std::vector<Intent> waiting_;  // a heap by start
  std::vector<Intent> active_;   // a heap by end
  std::vector<std::vector<lapse::Key>> ended_;
};

}  // namespace adapm
