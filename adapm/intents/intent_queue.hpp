// The intents of one worker, in the order in which they become due.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "adapm/intent.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// An intent waits, costs nothing for each of its keys meanwhile, and is looked at twice: when it becomes
// actionable, and when it has ended after that. One that ends before it becomes actionable is dropped.
//
// Thread safety: add by any thread, for instance one that loads data for the worker; everything else by one
// thread at a time.
class IntentQueue {
 public:
  // The worker's phase begins: from now on intents of phase `number` are taken.
  void open(std::uint64_t number) LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    phase_ = number;
  }
  // The worker's phase ends: nothing is taken any more.
  void close() LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    phase_.reset();
  }

  // Copies the keys; start < end. False, and nothing is taken, unless the queue is open for this phase.
  // Waits for no other thread but for one that is in add or begins a round.
  bool add(std::uint64_t phase, const Intent& intent) { return add(phase, intent, intent.keys); }
  // With these keys in place of those of the intent.
  bool add(std::uint64_t phase, const Intent& intent, std::span<const lapse::Key> keys)
      LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    if (phase_ != phase) return false;
    std::vector<lapse::Key> block;
    if (!free_.empty() && !keys.empty()) {
      block = std::move(free_.back());
      free_.pop_back();
    }
    block.assign(keys.begin(), keys.end());
    added_.push_back({intent.table, intent.type, intent.start, intent.end, intent.range, std::move(block)});
    return true;
  }

  // A round begins while the worker's clock is `now`; intents that start before `cutoff` are actionable.
  // Calls on(intent) for each that is actionable from this round on, in the order of their starts, which may
  // change its keys, or move from it and return false: then it is the caller's. Calls dropped(intent) for
  // each that has ended before it was actionable.
  template <class On, class Dropped>
  void activate(lapse::Clock now, lapse::Clock cutoff, On&& on, Dropped&& dropped) LAPSE_EXCLUDES(mutex_) {
    take_added();
    while (!waiting_.empty() && waiting_.front().start < cutoff) {
      Intent intent = pop(waiting_, ByStart());
      if (intent.end <= now) {
        dropped(std::as_const(intent));
        keep(std::move(intent));
        continue;
      }
      if (on(intent)) push(active_, std::move(intent), ByEnd());
    }
  }
  // One that was the caller's is actionable here until it ends.
  void add_active(Intent intent) { push(active_, std::move(intent), ByEnd()); }
  // Calls off(intent), which may move from it, for each that was actionable and has ended.
  template <class Off>
  void expire(lapse::Clock now, Off&& off) LAPSE_EXCLUDES(mutex_) {
    while (!active_.empty() && active_.front().end <= now) {
      Intent intent = pop(active_, ByEnd());
      off(intent);
      keep(std::move(intent));
    }
    give_back();
  }
  // The worker's phase has ended, and with it all its intents: the next expire ends those that were
  // actionable. Returns how many were not, and never will be.
  std::size_t end_all() LAPSE_EXCLUDES(mutex_) {
    take_added();
    const std::size_t dropped = waiting_.size();
    waiting_.clear();
    for (Intent& intent : active_) intent.end = kEnded;
    return dropped;
  }

  // Whether one that was actionable has ended at this clock.
  bool has_expired(lapse::Clock now) const { return !active_.empty() && active_.front().end <= now; }
  // Intents that are not yet actionable, beside those added since the last round; and those that are.
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t active() const { return active_.size(); }
  // Bytes that the intents take, with what is kept for later ones.
  std::size_t memory_bytes() const LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    std::size_t bytes = free_.capacity() * sizeof(free_[0]);
    for (const std::vector<lapse::Key>& keys : free_) bytes += keys.capacity() * sizeof(lapse::Key);
    for (const std::vector<Intent>* intents : {&added_, &taken_, &waiting_, &active_}) {
      bytes += intents->capacity() * sizeof(Intent);
      for (const Intent& intent : *intents) bytes += intent.keys.capacity() * sizeof(lapse::Key);
    }
    return bytes;
  }

 private:
  static constexpr lapse::Clock kEnded{std::numeric_limits<std::int64_t>::min()};

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
  void keep(Intent intent) {
    if (intent.keys.capacity() > 0) ended_.push_back(std::move(intent.keys));
  }
  void give_back() LAPSE_EXCLUDES(mutex_) {
    if (ended_.empty()) return;
    const lapse::MutexLock guard(mutex_);
    // As many as are in use at a time: what one round frees, the next ones need.
    for (std::vector<lapse::Key>& keys : ended_) {
      if (free_.size() <= active_.size()) free_.push_back(std::move(keys));
    }
    ended_.clear();
  }

  mutable lapse::Mutex mutex_;
  std::optional<std::uint64_t> phase_ LAPSE_GUARDED_BY(mutex_);
  std::vector<Intent> added_ LAPSE_GUARDED_BY(mutex_);
  std::vector<std::vector<lapse::Key>> free_ LAPSE_GUARDED_BY(mutex_);
  // the rounds'
  std::vector<Intent> taken_;
  std::vector<Intent> waiting_;  // a heap by start
  std::vector<Intent> active_;   // a heap by end
  std::vector<std::vector<lapse::Key>> ended_;
};

}  // namespace adapm
