// Threads that wait for work between phases.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "lapse/core/mutex.hpp"

namespace lapse {

// Thread safety: run and wait by the owner's thread. Jobs run on the pool's threads.
class WorkerPool {
 public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Ends the threads. Requires that no job runs.
  ~WorkerPool();

  // Starts job(0) to job(count - 1), each on its own thread, and returns at once. The job must not throw, and
  // must live until wait has returned. Throws Error if a thread cannot be started; then no job runs.
  void run(std::size_t count, const std::function<void(std::size_t)>& job);
  // Waits, without sleeping, until every job of the last run has returned. For jobs that are about to return.
  void wait() const {
    while (running_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

 private:
  // Starts the next of `count` threads.
  void start_thread(std::size_t count) LAPSE_REQUIRES(mutex_);
  void thread_main(std::size_t index, std::size_t first_run);

  std::atomic<std::size_t> running_{0};
  Mutex mutex_;
  std::condition_variable start_;
  std::size_t run_ LAPSE_GUARDED_BY(mutex_) = 0;
  std::size_t count_ LAPSE_GUARDED_BY(mutex_) = 0;
  bool ending_ LAPSE_GUARDED_BY(mutex_) = false;
  const std::function<void(std::size_t)>* job_ LAPSE_GUARDED_BY(mutex_) = nullptr;
  std::vector<std::thread> threads_ LAPSE_GUARDED_BY(mutex_);
};

}  // namespace lapse
