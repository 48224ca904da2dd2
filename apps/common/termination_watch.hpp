// Ends a process that was asked to end, when the ranks do not stop together in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "lapse/core/process/signal_watch.hpp"
#include "lapse/core/types.hpp"

namespace lapse::apps {

// A launcher sends SIGTERM to the ranks that are left when one of them has failed. They would save a
// checkpoint, but wait for that rank, until the launcher ends them by SIGKILL, if it does. So SIGTERM takes
// its default effect after `limit`. Time in which the process is stopped does not count.
//
// Thread safety: the server's thread.
class TerminationWatch {
 public:
  // Watches nothing unless `watches`.
  TerminationWatch(Rank rank, bool watches, std::chrono::milliseconds limit);
  ~TerminationWatch();
  TerminationWatch(const TerminationWatch&) = delete;
  TerminationWatch& operator=(const TerminationWatch&) = delete;

  // The last checkpoint is saved: the process is not ended any more.
  void finish();

 private:
  void watch();
  [[noreturn]] void end_process() const;

  const Rank rank_;
  const std::chrono::milliseconds limit_;
  std::optional<SignalWatch> signals_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;   // the watch is to end; guarded by mutex_
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace lapse::apps
