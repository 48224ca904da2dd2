#include "lapse/ps/phase/worker_pool.hpp"

#include <fmt/format.h>

#include <system_error>

#include "lapse/core/error.hpp"
#include "lapse/core/process/library_thread.hpp"

namespace lapse {

WorkerPool::~WorkerPool() {
  {
    const MutexLock guard(mutex_);
    ending_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(std::size_t count, const std::function<void(std::size_t)>& job) {
  {
    const MutexLock guard(mutex_);
    threads_.reserve(count);
    while (threads_.size() < count) start_thread(count);
    ++run_;
    count_ = count;
    job_ = &job;
    running_.store(count, std::memory_order_relaxed);
  }
  start_.notify_all();
}

void WorkerPool::start_thread(std::size_t count) {
  try {
    const std::size_t index = threads_.size();
    threads_.push_back(start_application_thread(fmt::format("lapse-worker{}", index),
                                                [this, index, run = run_] { thread_main(index, run); }));
  } catch (const std::system_error& error) {
    throw Error(
        fmt::format("worker {} of {} cannot start its thread: {}; fewer workers, or higher limits of threads "
                    "and addresses "
                    "(ulimit -u, ulimit -v; the batch system's limits)",
                    threads_.size() + 1, count, error.what()));
  }
}

void WorkerPool::thread_main(std::size_t index, std::size_t first_run) {
  std::size_t last_run = first_run;
  for (;;) {
    const std::function<void(std::size_t)>* job = nullptr;
    {
      const MutexLock guard(mutex_);
      mutex_.wait(start_, [&]() LAPSE_REQUIRES(mutex_) { return ending_ || run_ != last_run; });
      if (ending_) return;
      last_run = run_;
      if (index >= count_) continue;
      job = job_;
    }
    (*job)(index);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace lapse
