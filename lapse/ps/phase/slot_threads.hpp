// The threads of a rank's slots, which wait for work between phases.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "lapse/core/mutex.hpp"

namespace lapse {

// One thread for each slot, each with a mailbox of its own, so that a slot can be given work while others
// still have theirs.
//
// Thread safety: prepare, wait: the owner's thread; start, has_job: one thread at a time for a slot, once it
// has a thread; jobs run on the threads of their slots.
class SlotThreads {
 public:
  using Job = std::function<void(std::size_t slot)>;

  SlotThreads() = default;
  SlotThreads(const SlotThreads&) = delete;
  SlotThreads& operator=(const SlotThreads&) = delete;
  // Ends the threads; no job may be running.
  ~SlotThreads();

  // There are threads for this many slots afterwards. Throws Error when one cannot be started.
  void prepare(std::size_t slots);
  // Starts job(slot) on the thread of the slot, and returns at once. The slot has no other job. The job must
  // not throw, and must live until it has returned.
  void start(std::size_t slot, const Job& job);
  // Whether the slot has been given a job that has not started.
  bool has_job(std::size_t slot) const {
    const MutexLock guard(slots_[slot]->mutex);
    return slots_[slot]->job != nullptr;
  }
  // Waits until every job has returned; for jobs that are about to.
  void wait() const {
    while (running_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

 private:
  struct Slot {
    Mutex mutex;
    std::condition_variable bell;
    const Job* job LAPSE_GUARDED_BY(mutex) = nullptr;
    bool ending LAPSE_GUARDED_BY(mutex) = false;
    std::thread thread;  // the owner's
  };

  void serve(Slot& slot, std::size_t number);

  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<std::size_t> running_{0};
};

}  // namespace lapse
