#include "lapse/ps/step_thread.hpp"

#include <system_error>
#include <utility>

#include "lapse/core/thread_name.hpp"

namespace lapse {

StepThread::StepThread(std::function<void()> f) : f_(std::move(f)) {
  try {
    thread_ = std::thread([this] {
      name_thread("lapse-step");
      f_();
      const std::lock_guard lock(mutex_);
      done_ = true;
      ended_.notify_all();
    });
  } catch (const std::system_error&) {
    f_();
    done_ = true;
  }
}

StepThread::~StepThread() {
  if (thread_.joinable()) thread_.join();
}

bool StepThread::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [this] { return done_; });
}

}  // namespace lapse
