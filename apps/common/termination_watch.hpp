// Ends a process that was asked to end, when the ranks do not agree to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lapse/core/signal_watch.hpp"
#include "lapse/core/types.hpp"

namespace lapse::apps {

// A launcher sends SIGTERM to the ranks that are left when one of them has failed. They would save a
// checkpoint, but wait for that rank, until the launcher ends them by SIGKILL: under Slurm half a minute
// later, or more. So from SIGTERM on, a rank whose workers do nothing has `patience` more to agree with the
// others, and as long as it has ever done nothing before: an epoch, or an evaluation. Then SIGTERM ends it.
//
// Thread safety: progressed() any thread; making, begin() and agreed(): the server's thread.
class TerminationWatch {
 public:
  using Time = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPatience{10};

  // Watches nothing unless `watches`.
  TerminationWatch(Rank rank, bool watches, Time::duration patience = kPatience);
  ~TerminationWatch();
  TerminationWatch(const TerminationWatch&) = delete;
  TerminationWatch& operator=(const TerminationWatch&) = delete;

  // The training begins: what comes before it does not count as time in which nothing is done.
  void begin();
  // A batch is done, or all ranks have met.
  void progressed();
  // The ranks have agreed to stop: the process is not ended any more.
  void agreed();

 private:
  using Ticks = Time::duration::rep;

  static Ticks now() { return Time::now().time_since_epoch().count(); }
  void watch();
  // Whether the time is over; `asked`: when SIGTERM was seen.
  bool is_over(Ticks asked) const;
  [[noreturn]] void end_process(Ticks asked) const;

  const Rank rank_;
  const Time::duration patience_;
  std::optional<SignalWatch> signals_;
  std::atomic<Ticks> last_{0};     // when something was done; 0: the training has not begun
  std::atomic<Ticks> longest_{0};  // time in which nothing was
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;   // the watch; guarded by mutex_
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace lapse::apps
