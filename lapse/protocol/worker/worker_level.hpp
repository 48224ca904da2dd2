// The clock of a worker in its seat, as bounds of staleness count it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

// A count of clocks since the workers of a phase took their seats. Levels only rise.
using Level = std::int64_t;
inline constexpr Level kEndedLevel = std::numeric_limits<Level>::max();  // the worker has ended

// Counts the clock of one worker, and its open operations by *side*: those that began at an even clock, and
// at an odd one. So it shows without a wait whether all operations from before the last advance are answered.
//
// Thread safety: begin, advance, ended, want: the worker, or the engine on its behalf; take_seat: between
// phases; the others: any thread.
class WorkerLevel {
 public:
  void take_seat(Level clock = 0) {
    wanted_.store(0, std::memory_order_relaxed);
    clock_.store(clock, std::memory_order_release);
  }
  Level clock() const { return clock_.load(std::memory_order_relaxed); }
  // A thread that reads the clock of a new seat sees what has happened before it was taken.
  Level seated_clock() const { return clock_.load(std::memory_order_acquire); }
  // Whether no operation is open that began before the last advance. Then the worker may advance.
  bool may_advance() const { return open_[side(clock() + 1)].load(std::memory_order_acquire) == 0; }
  // A thread that reads the new clock sees what the worker has written in memory before. Requires
  // may_advance().
  void advance() { clock_.store(clock() + 1, std::memory_order_release); }
  void ended() { clock_.store(kEndedLevel, std::memory_order_release); }

  // The last clock up to which every operation has been answered that the worker began before it (see
  // docs/consistency.md).
  Level answered() const {
    const Level clock = clock_.load(std::memory_order_acquire);
    if (clock == kEndedLevel) return open() == 0 ? clock : 0;
    const bool answered = clock == 0 || open_[side(clock - 1)].load(std::memory_order_acquire) == 0;
    return answered ? clock : clock - 1;
  }
  // Whether answered() will rise without a further call of the worker.
  bool has_unanswered() const {
    const Level clock = clock_.load(std::memory_order_relaxed);
    return clock == kEndedLevel ? open() > 0 : answered() < clock;
  }

  // --- epochs (see Levels)

  // The highest epoch that the worker has asked for, which only it raises.
  Level wanted() const { return wanted_.load(std::memory_order_acquire); }
  void want(Level epoch) { wanted_.store(epoch, std::memory_order_release); }

  // The epoch in which all copies show what the last worker of this place has changed; of use where workers
  // join and leave.
  Level left_need() const { return left_need_; }
  void set_left_need(Level need) { left_need_ = need; }

  // --- operations

  // Returns the side of an operation that begins now.
  std::uint8_t begin() {
    const unsigned at = side(clock());
    open_[at].fetch_add(1, std::memory_order_relaxed);
    return static_cast<std::uint8_t>(at);
  }
  void end(std::uint8_t side) { open_[side].fetch_sub(1, std::memory_order_release); }
  std::uint32_t open() const {
    return open_[0].load(std::memory_order_acquire) + open_[1].load(std::memory_order_acquire);
  }

 private:
  static unsigned side(Level clock) { return static_cast<unsigned>(clock & 1); }

  std::atomic<Level> clock_{0};
  std::atomic<Level> wanted_{0};
  Level left_need_ = 0;  // the worker's; 0 at the beginning of a phase
  std::atomic<std::uint32_t> open_[2] = {};
};

// Whether a submission that is queued once at a time is to be queued.
//
// Thread safety: the members say who calls them.
class QueuedFlag {
 public:
  // The worker: after it has something new to say. Whether it must submit it.
  bool raise() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return !is_queued_.exchange(true, std::memory_order_acq_rel);
  }
  // The engine: before it reads what is new.
  void taken() {
    is_queued_.store(false, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  std::atomic<bool> is_queued_{false};
};

// Says that the level of a worker has risen.
class LevelNotice : public Submission, public QueuedFlag {};

}  // namespace lapse
