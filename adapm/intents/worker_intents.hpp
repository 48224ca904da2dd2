// The intents of one worker of a rank, from phase to phase.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "adapm/action_timer.hpp"
#include "adapm/intent_counters.hpp"
#include "adapm/intents/intent_effect.hpp"
#include "adapm/intents/intent_queue.hpp"
#include "adapm/intents/large_intents.hpp"
#include "adapm/remote_causes.hpp"
#include "adapm/sampling/prepared_keys.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/intent_source.hpp"
#include "lapse/protocol/worker/worker_clock.hpp"

namespace adapm {

// The intents of the workers with one number on this rank. The timer keeps its estimate between phases;
// intents end with their phase.
//
// Thread safety: use_clock and end_phase: the worker's thread. signal and clock: any thread. begin_phase:
// while no engine runs. queue, large and timer: rounds only.
class WorkerIntents {
 public:
  explicit WorkerIntents(const ActionTimer::Settings& timing) : timer(timing) {}

  // --- the worker's life

  void begin_phase(std::uint64_t phase) {
    phase_.store(phase, std::memory_order_relaxed);
    has_ended_.store(false, std::memory_order_relaxed);
    queue.open(phase);
    timer.begin_phase();
    first_clock_ = clock();
    rounds_of_phase = 0;
  }
  // Later signals are refused.
  void end_phase() {
    queue.close();
    has_ended_.store(true, std::memory_order_release);
  }
  // The manager is closed.
  void close() { is_closed_.store(true, std::memory_order_release); }
  bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  // Whether this phase of the worker has begun and not ended.
  bool is_open(std::uint64_t phase) const {
    return !has_ended() && phase_.load(std::memory_order_relaxed) == phase;
  }

  // --- its clock: that of the server's worker

  // Called when the worker begins. The clock is the same in every phase.
  void use_clock(std::shared_ptr<const lapse::WorkerClock> clock) {
    if (clock_.load(std::memory_order_relaxed) != nullptr) return;
    kept_clock_ = std::move(clock);
    clock_.store(kept_clock_.get(), std::memory_order_release);
  }
  // 0 before the worker's first phase.
  lapse::Clock clock() const {
    const lapse::WorkerClock* const clock = clock_.load(std::memory_order_acquire);
    return clock == nullptr ? lapse::Clock(0) : clock->now();
  }

  // --- its accesses

  // Why a key that the worker accesses is in another domain. Rounds only.
  RemoteCause cause(const lapse::RemoteAccess& access) const {
    if (access.copied) return RemoteCause::older_copy;
    if (access.wanted) return access.asked ? in_time(RemoteCause::on_its_way) : RemoteCause::not_given;
    if (large.is_beginning(access.table, access.key)) return in_time(RemoteCause::announced_late);
    switch (queue.search(access.table, access.key, clock())) {
      case IntentQueue::Found::started:
        return in_time(RemoteCause::announced_late);
      case IntentQueue::Found::ended:
        return RemoteCause::after_end;
      case IntentQueue::Found::later:
        return RemoteCause::before_start;
      case IntentQueue::Found::nowhere:
        break;
    }
    if (large.is_ending(access.table, access.key)) return RemoteCause::after_end;
    return RemoteCause::never_announced;
  }

  // --- its intents

  // Copies the intent, with these keys instead of its own. Returns false if the phase has ended. If the
  // intent has ended already or is empty in time, or `keep` is false, it is only counted.
  bool signal(std::uint64_t phase, const Intent& intent, std::span<const lapse::Key> keys, bool keep) {
    const bool ended = intent.end <= intent.start || intent.end <= clock();
    if (has_ended() || (keep && !ended && !queue.add(phase, intent, keys))) return false;
    const std::uint64_t size = keys.size() + intent.range.size();
    count(intents_, 1);
    if (intent.start > clock() && !future_.load(std::memory_order_relaxed)) [[unlikely]]
      future_.store(true, std::memory_order_relaxed);
    count(keys_, size);
    if (intent.type == IntentType::read_only) count(read_only_keys_, size);
    if (ended) {
      count(ignored_, 1);
      if (keep) queue.note_ended(intent.table);
    }
    return true;
  }

  // --- its samples

  void count_sample() { count(samples_, 1); }
  void count_taken(std::size_t keys, const TakenKeys& taken) {
    count(sampled_keys_, keys);
    if (taken.postponed > 0) count(postponed_keys_, taken.postponed);
    if (taken.remote > 0) count(remote_draws_, taken.remote);
  }

  // Adds the counts of signaled intents and samples.
  void add_to(IntentCounters& counters) const {
    counters.intents += intents_.load(std::memory_order_relaxed);
    counters.keys += keys_.load(std::memory_order_relaxed);
    counters.read_only_keys += read_only_keys_.load(std::memory_order_relaxed);
    counters.ignored_intents += ignored_.load(std::memory_order_relaxed);
    counters.samples += samples_.load(std::memory_order_relaxed);
    counters.sampled_keys += sampled_keys_.load(std::memory_order_relaxed);
    counters.postponed_keys += postponed_keys_.load(std::memory_order_relaxed);
    counters.remote_draws += remote_draws_.load(std::memory_order_relaxed);
  }

  IntentEffect effect() const {
    return {.intents = intents_.load(std::memory_order_relaxed),
            .ended = ignored_.load(std::memory_order_relaxed),
            .future = future_.load(std::memory_order_relaxed),
            .advanced = clock() > lapse::Clock(0)};
  }

  // --- for the rounds

  // Whether the next round has keys to want or to unwant, even if the worker does not advance.
  bool pending() const {
    if (!large.empty()) return true;
    return has_ended() ? queue.active() > 0 : queue.has_expired(clock());
  }
  // Ends all its intents after its phase. Returns the number of those that never became actionable.
  std::size_t end_all() {
    large.end_all();
    return queue.end_all();
  }

  const lapse::OwnProcess process;
  IntentQueue queue;
  LargeIntents large;
  ActionTimer timer;
  lapse::Clock seen = {};  // the clock in the last round
  std::uint64_t rounds_of_phase = 0;

 private:
  // `late`, unless the phase has just begun: nothing could be here in time.
  RemoteCause in_time(RemoteCause late) const {
    constexpr std::uint64_t kRounds = 8;
    const auto clocks = static_cast<double>(clock().value() - first_clock_.value());
    const bool has_begun = clocks < std::max(2.0, 2 * timer.rate()) && rounds_of_phase <= kRounds;
    return has_begun ? RemoteCause::beginning : late;
  }

  using Count = std::atomic<std::uint64_t>;
  static void count(Count& counter, std::uint64_t more) {
    counter.fetch_add(more, std::memory_order_relaxed);
  }

  std::shared_ptr<const lapse::WorkerClock> kept_clock_;
  std::atomic<const lapse::WorkerClock*> clock_{nullptr};  // of kept_clock_
  std::atomic<bool> has_ended_{true};
  std::atomic<bool> is_closed_{false};
  std::atomic<std::uint64_t> phase_{0};
  lapse::Clock first_clock_ = {};    // of the phase
  std::atomic<bool> future_{false};  // an intent began after the clock
  Count intents_{0};
  Count keys_{0};
  Count read_only_keys_{0};
  Count ignored_{0};
  Count samples_{0};
  Count sampled_keys_{0};
  Count postponed_keys_{0};
  Count remote_draws_{0};
};

}  // namespace adapm
