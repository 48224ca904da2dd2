#include "lapse/ps/agreement/step_thread.hpp"

#include <utility>

#include "lapse/core/process/library_thread.hpp"

namespace lapse {

StepThread::StepThread(std::function<void()> f) : f_(std::move(f)) {
  try {
    thread_ = start_library_thread("lapse-step", [this] {
      f_();
      const std::lock_guard lock(mutex_);
      done_ = true;
      ended_.notify_all();
    });
  } catch (...) {
    // No thread could be started, or there was no memory for one.
  }
  if (thread_.joinable()) return;
  f_();
  done_ = true;
}

StepThread::~StepThread() {
  if (thread_.joinable()) thread_.join();
}

bool StepThread::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [this] { return done_; });
}

}  // namespace lapse
