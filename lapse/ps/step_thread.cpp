#include "lapse/ps/step_thread.hpp"

#include <csignal>
#include <utility>

#include "lapse/core/thread_name.hpp"

namespace lapse {

StepThread::StepThread(std::function<void()> f) : f_(std::move(f)) {
  // Handlers of the application do not run on a thread that it does not know.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] {
      name_thread("lapse-step");
      f_();
      const std::lock_guard lock(mutex_);
      done_ = true;
      ended_.notify_all();
    });
  } catch (...) {
    // There is no thread, or no memory for one.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
