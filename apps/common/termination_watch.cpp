#include "apps/common/termination_watch.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lapse/core/process/library_thread.hpp"

namespace lapse::apps {

namespace {

// How often the watch checks for the signal.
constexpr std::chrono::milliseconds kBetweenLooks{100};

}  // namespace

TerminationWatch::TerminationWatch(Rank rank, bool watches, std::chrono::milliseconds limit)
    : rank_(rank), limit_(limit) {
  if (!watches) return;
  signals_.emplace(std::vector{SIGTERM});
  thread_ = start_library_thread("lapse-watch", [this] { watch(); });
}

TerminationWatch::~TerminationWatch() {
  finish();
}

void TerminationWatch::finish() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TerminationWatch::watch() {
  std::chrono::milliseconds asked{0};
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetweenLooks, [this] { return ends_; })) {
    if (!signals_->received()) continue;
    if (asked >= limit_) end_process();
    asked += kBetweenLooks;
  }
}

void TerminationWatch::end_process() const {
  fmt::print(stderr,
             "error: rank {}: {} s after SIGTERM the ranks have not stopped together: one of them may have "
             "ended, or needs longer than --stop-before; this process ends without a further checkpoint\n",
             rank_.value(), std::chrono::duration_cast<std::chrono::seconds>(limit_).count());
  std::signal(SIGTERM, SIG_DFL);
  // Send it to the process: this thread takes no signals, and other threads may block this one.
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
  std::raise(SIGTERM);
  std::abort();  // The system ignores SIGTERM.
}

}  // namespace lapse::apps
