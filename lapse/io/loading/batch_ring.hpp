// The places of a ring of batches, between the thread that makes them and the thread that uses them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

#include "lapse/core/export.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/core/thread_annotations.hpp"

namespace lapse::io {

// Batches are numbered from 0; batch n has the place n modulo their number. Each place is the maker's from
// begin() to end() of its number, and the user's from next() of its number until so many further calls of
// next() as the user may hold batches.
//
// The user may hold several batches at a time.
//
// A thread that had to wait sleeps until there is work for a while, so that threads which share a processor
// do not take turns for each batch: the maker until half of the places are free, the user until some
// batches are ready. The first next() waits for a number of batches that the owner chooses.
//
// Thread safety: begin, end and finish by one thread, next by another one, stop by any.
class LAPSE_EXPORT BatchRing {
 public:
  // places > held >= 1. `held`: batches that the user holds at a time. `ready_before_first`: so many batches
  // are made before the first is given, unless the input has fewer; from 1 to places - held. Throws
  // UsageError.
  BatchRing(std::size_t places, std::size_t held, std::size_t ready_before_first);

  // --- the maker ---

  // The number of the batch to be made next; waits for a free place. Nothing: the user has left.
  std::optional<std::uint64_t> begin();
  // The batch of the last begin() is ready.
  void end();
  // No batch follows, at the end of the input or because of a failure.
  void finish(std::exception_ptr failure = nullptr);

  // --- the user ---

  // The number of the next batch; the place of the oldest that the user holds is free from now on, if there
  // are `held`. Nothing at the end. Throws
  // the failure, after all batches that were made before it were given; UsageError in a child that fork has
  // made.
  std::optional<std::uint64_t> next();

  // The maker's calls of begin() return nothing from now on. Nothing in a child that fork has made.
  void stop();

  // In a child that fork has made: the maker is in another process, and the ring must not be destroyed, which
  // waits for threads that wait.
  bool is_left() const { return process_.is_left(); }

 private:
  // A user who had to wait goes on when so many batches are ready, or half of the ring.
  static constexpr std::uint64_t kReadyAfterWait = 16;

  const OwnProcess process_;
  const std::uint64_t places_;
  const std::uint64_t held_;
  const std::uint64_t ready_before_first_;

  Mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable free_;
  std::uint64_t made_ LAPSE_GUARDED_BY(mutex_) = 0;      // batches that are ready, and were
  std::uint64_t given_ LAPSE_GUARDED_BY(mutex_) = 0;     // by next()
  std::uint64_t released_ LAPSE_GUARDED_BY(mutex_) = 0;  // their places are free again
  // So many made batches wake the user, so many released ones the maker, while they wait.
  std::optional<std::uint64_t> wake_user_at_ LAPSE_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> wake_maker_at_ LAPSE_GUARDED_BY(mutex_);
  bool finished_ LAPSE_GUARDED_BY(mutex_) = false;
  bool stopped_ LAPSE_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ LAPSE_GUARDED_BY(mutex_);
};

}  // namespace lapse::io
