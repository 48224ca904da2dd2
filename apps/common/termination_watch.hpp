// Ends a process that was asked to end, when the ranks do not agree to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "lapse/core/process/signal_watch.hpp"
#include "lapse/core/types.hpp"

namespace lapse::apps {

// A launcher sends SIGTERM to the ranks that are left when one of them has failed. They would save a
// checkpoint, but wait for that rank, until the launcher ends them by SIGKILL: under Slurm half a minute
// later, or more. Also where no rank has failed, ranks wait for each other, as long as an evaluation takes.
// What differs is that some rank works then. So from SIGTERM on, a rank ends when for `patience` it has
// learned of no rank's work, and ranks have not met. Time in which the process itself is stopped does not
// count.
//
// Thread safety: progressed() any thread; making and finish(): the server's thread.
class TerminationWatch {
 public:
  using Time = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPatience{10};

  // What the watch calls, on a thread of its own.
  struct Job {
    std::function<void()> request_stop;           // once, when SIGTERM has come
    std::function<Time::time_point()> last_work;  // of any rank
  };

  // Watches nothing unless `watches`.
  TerminationWatch(Rank rank, bool watches, Job job, Time::duration patience = kPatience);
  ~TerminationWatch();
  TerminationWatch(const TerminationWatch&) = delete;
  TerminationWatch& operator=(const TerminationWatch&) = delete;

  // A batch is done, or all ranks have met.
  void progressed() {
    if (signals_) last_.store(Time::now(), std::memory_order_relaxed);
  }
  // The last checkpoint is saved: the process is not ended any more.
  void finish();

 private:
  void watch();
  [[noreturn]] void end_process(Time::duration asked) const;

  const Rank rank_;
  const Job job_;
  const Time::duration patience_;
  std::optional<SignalWatch> signals_;
  std::atomic<Time::time_point> last_{Time::time_point{}};  // when this rank has done something
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;   // the watch; guarded by mutex_
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace lapse::apps
