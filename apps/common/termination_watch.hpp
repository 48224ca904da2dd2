// Ends a process after SIGTERM if the ranks cannot agree to stop.
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

// When a rank has failed, the launcher sends SIGTERM to the others. They would save a checkpoint, but wait
// for the failed rank until the launcher sends SIGKILL: under Slurm half a minute later, or more. Ranks also
// wait for each other without a failure, e.g. during an evaluation; but then some rank works. So after
// SIGTERM, a rank ends once it has seen no rank's work, and no meeting of ranks, for `patience`. Time in
// which the process is stopped does not count.
//
// Thread safety: progressed(): any thread. Constructor and finish(): the server's thread.
class TerminationWatch {
 public:
  using Time = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPatience{10};

  // Callbacks, called on the watch's own thread.
  struct Job {
    std::function<void()> request_stop;           // once, when SIGTERM has arrived
    std::function<Time::time_point()> last_work;  // the time of the last work of any rank
  };

  // Does nothing unless `watches`.
  TerminationWatch(Rank rank, bool watches, Job job, Time::duration patience = kPatience);
  ~TerminationWatch();
  TerminationWatch(const TerminationWatch&) = delete;
  TerminationWatch& operator=(const TerminationWatch&) = delete;

  // Reports that a batch is done, or that all ranks have met.
  void progressed() {
    if (signals_) last_.store(Time::now(), std::memory_order_relaxed);
  }
  // The last checkpoint is saved: stops watching.
  void finish();

 private:
  void watch();
  [[noreturn]] void end_process(Time::duration asked) const;

  const Rank rank_;
  const Job job_;
  const Time::duration patience_;
  std::optional<SignalWatch> signals_;
  std::atomic<Time::time_point> last_{Time::time_point{}};  // the last progress of this rank
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;   // the watch is to end; guarded by mutex_
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace lapse::apps
