// Runs a long step of a collective call, while the calling thread stays in touch with other ranks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace lapse {

// Runs f on a thread of its own that takes no signals, or in the constructor if no thread can be started. f
// must not throw. Thread safety: one thread.
class StepThread {
 public:
  explicit StepThread(std::function<void()> f);
  // Waits until f has returned.
  ~StepThread();
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;

  // Waits until f has returned, at most `time`. Returns true if it has.
  bool wait_for(std::chrono::milliseconds time);

 private:
  const std::function<void()> f_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;   // guarded by mutex_
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace lapse
