// The intents of one worker, in the order in which they become due.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "adapm/intent.hpp"
#include "adapm/intents/intent_search.hpp"
#include "adapm/intents/large_intents.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// An intent waits here without work per key. It is processed twice: when it becomes actionable, and after its
// end. An intent that ends before it becomes actionable is dropped.
//
// Thread safety: add: any thread, e.g. one that loads data for the worker. Everything else: one thread at a
// time.
class IntentQueue {
 public:
  // The worker's phase begins: accepts intents of phase `number`.
  void open(std::uint64_t number) LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    phase_ = number;
  }
  // The worker's phase ends: accepts no more intents.
  void close() LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    phase_.reset();
  }

  // Copies the keys. Requires start < end. Returns false, without effect, unless the queue is open for this
  // phase. Waits only for a thread that is in add or search, or begins a round.
  bool add(std::uint64_t phase, const Intent& intent) { return add(phase, intent, intent.keys); }
  // Like add, with these keys instead of those of the intent.
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
    if (intent.table.index() < last_had_ended_.size()) last_had_ended_[intent.table.index()] = false;
    added_.push_back({intent.table, intent.type, intent.start, intent.end, intent.range, std::move(block)});
    return true;
  }

  // For search(): an intent for the table had ended when it was signaled.
  void note_ended(lapse::TableId table) LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    if (last_had_ended_.size() <= table.index()) last_had_ended_.resize(table.index() + 1);
    last_had_ended_[table.index()] = true;
  }

  // Begins a round at the worker's clock `now`; intents that start before `cutoff` become actionable. Calls
  // on(intent) for each of them, ordered by start. `on` may change the keys, or move from the intent and
  // return false: then the caller owns it. Calls dropped(intent) for each that ended before it became
  // actionable.
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
  // Takes an intent from the caller, actionable until it ends.
  void add_active(Intent intent) { push(active_, std::move(intent), ByEnd()); }
  // Calls off(intent), which may move from it, for each actionable intent that has ended.
  template <class Off>
  void expire(lapse::Clock now, Off&& off) LAPSE_EXCLUDES(mutex_) {
    while (!active_.empty() && active_.front().end <= now) {
      Intent intent = pop(active_, ByEnd());
      off(intent);
      keep(std::move(intent));
    }
    give_back();
  }
  // The worker's phase has ended, and with it all its intents. Drops those that are not actionable and
  // returns their number; the next expire ends the others.
  std::size_t end_all() LAPSE_EXCLUDES(mutex_) {
    take_added();
    const std::size_t dropped = waiting_.size();
    waiting_.clear();
    forget_ended();
    for (Intent& intent : active_) intent.end = kEnded;
    return dropped;
  }

  // Where a key is found, the first that applies: in an intent that has started and is not actionable yet;
  // in one that ended lately; in one that starts later.
  enum class Found : std::uint8_t { started, ended, later, nowhere };
  // Compares at most kSearched keys of intents of each kind: of waiting ones, half in those that start first
  // and half in those added last. If the last intent for the table had ended when it was signaled, so have
  // others.
  Found search(lapse::TableId table, lapse::Key key, lapse::Clock now) const LAPSE_EXCLUDES(mutex_) {
    Found found = Found::nowhere;
    const auto look = [&](auto at, auto end, std::size_t keys) {
      SearchBudget budget(keys);
      for (; at != end && !budget.is_spent(); ++at) {
        const Intent& intent = *at;
        if (!has_key(intent, table, key, budget)) continue;
        found = std::min(found, intent.end <= now    ? Found::ended
                                : intent.start > now ? Found::later
                                                     : Found::started);
      }
    };
    look(waiting_.begin(), waiting_.end(), kSearched / 2);
    look(waiting_.rbegin(), waiting_.rend(), kSearched / 2);
    look(recent_.begin(), recent_.end(), kSearched);
    const lapse::MutexLock guard(mutex_);
    look(added_.rbegin(), added_.rend(), kSearched);
    if (table.index() < last_had_ended_.size() && last_had_ended_[table.index()])
      found = std::min(found, Found::ended);
    return found;
  }

  // Whether an actionable intent has ended at this clock.
  bool has_expired(lapse::Clock now) const { return !active_.empty() && active_.front().end <= now; }
  // Numbers of intents not yet actionable (without those added since the last round), and actionable.
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t active() const { return active_.size(); }
  // Memory of the intents in bytes, including memory kept for later intents.
  std::size_t memory_bytes() const LAPSE_EXCLUDES(mutex_) {
    const lapse::MutexLock guard(mutex_);
    std::size_t bytes = free_.capacity() * sizeof(std::vector<lapse::Key>);
    for (const std::vector<lapse::Key>& keys : free_) bytes += keys.capacity() * sizeof(lapse::Key);
    for (const Intent& intent : recent_)
      bytes += sizeof(Intent) + intent.keys.capacity() * sizeof(lapse::Key);
    for (const std::vector<Intent>* intents : {&added_, &taken_, &waiting_, &active_}) {
      bytes += intents->capacity() * sizeof(Intent);
      for (const Intent& intent : *intents) bytes += intent.keys.capacity() * sizeof(lapse::Key);
    }
    return bytes;
  }

 private:
  static constexpr std::size_t kSearched = std::size_t{1} << 17;
  // Ended intents that are kept for search().
  static constexpr std::size_t kRecent = 32;
  static constexpr lapse::Clock kEnded{std::numeric_limits<std::int64_t>::min()};

  // For std::push_heap: the front of the heap is the last in this order.
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

  void forget_ended() LAPSE_EXCLUDES(mutex_) {
    recent_.clear();
    const lapse::MutexLock guard(mutex_);
    last_had_ended_.clear();
  }
  void take_added() LAPSE_EXCLUDES(mutex_) {
    {
      const lapse::MutexLock guard(mutex_);
      taken_.swap(added_);
    }
    for (Intent& intent : taken_) push(waiting_, std::move(intent), ByStart());
    taken_.clear();
  }
  // Keeps the intent for a while, unless it is large, and then the memory of its keys for reuse.
  void keep(Intent intent) {
    const bool is_of_use = intent.size() > 0 && !LargeIntents::is_large(intent) && intent.end != kEnded;
    if (is_of_use && recent_.size() < kRecent) {
      recent_.push_back(std::move(intent));
      return;
    }
    // A long round drops intents before it ends older ones.
    const auto oldest = std::ranges::min_element(recent_, {}, &Intent::end);
    if (is_of_use && oldest->end < intent.end) std::swap(*oldest, intent);
    if (intent.keys.capacity() > 0) ended_.push_back(std::move(intent.keys));
  }
  void give_back() LAPSE_EXCLUDES(mutex_) {
    if (ended_.empty()) return;
    const lapse::MutexLock guard(mutex_);
    // Keep as many as are in use at a time: later rounds need what this one frees.
    for (std::vector<lapse::Key>& keys : ended_) {
      if (free_.size() <= active_.size()) free_.push_back(std::move(keys));
    }
    ended_.clear();
  }

  mutable lapse::Mutex mutex_;
  std::optional<std::uint64_t> phase_ LAPSE_GUARDED_BY(mutex_);
  std::vector<Intent> added_ LAPSE_GUARDED_BY(mutex_);
  std::vector<bool> last_had_ended_ LAPSE_GUARDED_BY(mutex_);  // by table: the intent that was signaled last
  std::vector<std::vector<lapse::Key>> free_ LAPSE_GUARDED_BY(mutex_);
  // the rounds'
  std::vector<Intent> taken_;
  std::vector<Intent> waiting_;  // a heap by start
  std::vector<Intent> active_;   // a heap by end
  std::vector<Intent> recent_;   // ended last
  std::vector<std::vector<lapse::Key>> ended_;
};

}  // namespace adapm
