#include "apps/common/termination_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "lapse/core/process/library_thread.hpp"

namespace lapse::apps {

namespace {

// How often the watch checks for the signal, and for work of ranks.
constexpr std::chrono::milliseconds kBetweenLooks{100};

}  // namespace

TerminationWatch::TerminationWatch(Rank rank, bool watches, Job job, Time::duration patience)
    : rank_(rank), job_(std::move(job)), patience_(patience) {
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
  std::optional<Time::time_point> asked;
  Time::duration idle{0};
  Time::time_point before = Time::now();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetweenLooks, [this] { return ends_; })) {
    const Time::time_point now = Time::now();
    // If this process was stopped, it has not read the others' signs of work yet.
    const Time::duration passed = std::min<Time::duration>(now - before, 2 * kBetweenLooks);
    if (!asked && signals_->received()) {
      asked = now;
      job_.request_stop();
    }
    const Time::time_point last = std::max(last_.load(std::memory_order_relaxed), job_.last_work());
    idle = !asked || last >= before ? Time::duration(0) : idle + passed;
    if (idle > patience_) end_process(now - *asked);
    before = now;
  }
}

void TerminationWatch::end_process(Time::duration asked) const {
  fmt::print(
      stderr,
      "error: rank {}: {:.0f} s after SIGTERM the ranks have not stopped together: one of them may have "
      "ended, or does not answer; this process ends without a further checkpoint\n",
      rank_.value(), std::chrono::duration<double>(asked).count());
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
