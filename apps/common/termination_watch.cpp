#include "apps/common/termination_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace lapse::apps {

namespace {

// How often the watch looks whether the signal has come.
constexpr std::chrono::milliseconds kBetweenLooks{250};

}  // namespace

TerminationWatch::TerminationWatch(Rank rank, bool watches, Time::duration patience)
    : rank_(rank), patience_(patience) {
  if (!watches) return;
  signals_.emplace(std::vector{SIGTERM});
  thread_ = std::thread([this] { watch(); });
}

TerminationWatch::~TerminationWatch() {
  agreed();
}

void TerminationWatch::begin() {
  last_.store(now(), std::memory_order_relaxed);
}

void TerminationWatch::progressed() {
  if (!signals_) return;
  const Ticks time = now();
  const Ticks before = last_.exchange(time, std::memory_order_relaxed);
  const Ticks idle = before == 0 ? 0 : time - before;
  Ticks longest = longest_.load(std::memory_order_relaxed);
  while (idle > longest && !longest_.compare_exchange_weak(longest, idle, std::memory_order_relaxed)) {
  }
}

void TerminationWatch::agreed() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TerminationWatch::watch() {
  std::optional<Ticks> asked;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetweenLooks, [this] { return ends_; })) {
    if (!asked && signals_->received()) asked = now();
    if (asked && is_over(*asked)) end_process(*asked);
  }
}

bool TerminationWatch::is_over(Ticks asked) const {
  const Ticks quiet_since = std::max(asked, last_.load(std::memory_order_relaxed));
  return now() - quiet_since > patience_.count() + longest_.load(std::memory_order_relaxed);
}

void TerminationWatch::end_process(Ticks asked) const {
  const std::chrono::duration<double> waited = Time::duration(now() - asked);
  fmt::print(stderr,
             "error: rank {}: {:.0f} s after SIGTERM the ranks have not agreed to stop: one of them may have "
             "ended, or does not answer; this process ends without a checkpoint\n",
             rank_.value(), waited.count());
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
  std::abort();  // SIGTERM is blocked.
}

}  // namespace lapse::apps
