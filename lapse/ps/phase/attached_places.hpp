// The places of a phase that threads of the application take as workers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/ps/access/phase.hpp"
#include "lapse/ps/phase/ended_workers.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

// Thread safety: take and give_back by any thread, open and close by the thread of the server.
class AttachedPlaces {
 public:
  // Opens the places. Initially all are closed.
  void open(std::size_t places) {
    const MutexLock guard(mutex_);
    taken_.assign(places, false);
    failures_ = std::vector<GroupFailureReport>(places);
    ended_.prepare(places);
    is_open_ = true;
  }
  // Returns the number of taken places. If it is 0, no place can be taken any more.
  std::size_t close() {
    const MutexLock guard(mutex_);
    const auto taken = static_cast<std::size_t>(std::ranges::count(taken_, true));
    if (taken == 0) is_open_ = false;
    return taken;
  }

  // Takes the given place, or the first free one. Throws UsageError if there is none. The phase lasts until
  // the place is given back.
  std::size_t take(std::optional<std::size_t> wanted, Rank rank);
  void give_back(std::size_t place) {
    const MutexLock guard(mutex_);
    taken_[place] = false;
  }
  // The report of the worker in a place. Lives as long as the phase.
  GroupFailureReport& failure(std::size_t place) LAPSE_NO_THREAD_SAFETY_ANALYSIS { return failures_[place]; }
  EndedWorkers<Worker>& ended() { return ended_; }

 private:
  Mutex mutex_;
  bool is_open_ LAPSE_GUARDED_BY(mutex_) = false;
  std::vector<bool> taken_ LAPSE_GUARDED_BY(mutex_);
  std::vector<GroupFailureReport> failures_ LAPSE_GUARDED_BY(mutex_);  // each by the worker in its place
  EndedWorkers<Worker> ended_;                                         // likewise, while places are open
};

// A taken place, and its worker.
class AttachedPlace {
 public:
  AttachedPlace(AttachedPlaces& places, const Seat& seat);
  // Requires that the worker has ended, with its operations answered or by a failure. Its calls throw from
  // then on.
  ~AttachedPlace();
  AttachedPlace(const AttachedPlace&) = delete;
  AttachedPlace& operator=(const AttachedPlace&) = delete;

  Worker& worker() { return *worker_; }
  // Ends the worker, and a lease that it holds. Waits for its operations. Throws what Worker::wait_all
  // throws.
  void finish();
  // Returns true in a child that fork has made since the place was taken.
  bool is_left() const { return process_.is_left(); }
  // Returns true if more exceptions unwind this thread than when it was attached.
  bool unwinds() const { return std::uncaught_exceptions() > exceptions_; }
  // Reports the failure, which ends the phase on every rank.
  void report(std::exception_ptr failure) noexcept;

 private:
  AttachedPlaces& places_;
  const Seat seat_;
  const OwnProcess process_;
  std::unique_ptr<Worker> worker_;
  int exceptions_;
};

}  // namespace lapse
