// A ring of places for batches, between the thread that makes them and the thread that uses them.
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

// Batches are numbered from 0; batch n uses place n modulo their number. A place belongs to the maker from
// begin() to end() of its number, and to the user from next() of its number until `held` further calls of
// next().
//
// The user may hold several batches at a time.
//
// A thread that had to wait sleeps until there is work for a while, so that threads that share a processor do
// not alternate for each batch: the maker sleeps until half of the places are free, the user until some
// batches are ready. The first next() waits for a number of batches that the owner chooses.
//
// Thread safety: begin, end and finish by one thread, next by another one, stop by any.
class LAPSE_EXPORT BatchRing {
 public:
  // places > held >= 1. `held`: batches that the user holds at a time. `ready_before_first`: number of
  // batches that must be ready before the first is returned, unless the input has fewer; from 1 to places -
  // held. Throws UsageError.
  BatchRing(std::size_t places, std::size_t held, std::size_t ready_before_first);

  // --- the maker ---

  // Waits for a free place and returns the number of the next batch to make; nullopt: stop() was called.
  std::optional<std::uint64_t> begin();
  // Marks the batch of the last begin() as ready.
  void end();
  // No batch follows, because of the end of the input or a failure.
  void finish(std::exception_ptr failure = nullptr);

  // --- the user ---

  // Returns the number of the next batch; nullopt at the end. Frees the place of the oldest batch that the
  // user holds, if it holds `held`. Throws the failure, after all batches made before it were returned;
  // UsageError in a child made by fork.
  std::optional<std::uint64_t> next();

  // Makes the maker's calls of begin() return nullopt. Does nothing in a child made by fork.
  void stop();

  // True in a child made by fork: the maker is in another process, and the ring must not be destroyed,
  // because the destructor waits for waiting threads.
  bool is_left() const { return process_.is_left(); }

 private:
  // A user that had to wait continues when this many batches are ready, or half of the ring.
  static constexpr std::uint64_t kReadyAfterWait = 16;

  const OwnProcess process_;
  const std::uint64_t places_;
  const std::uint64_t held_;
  const std::uint64_t ready_before_first_;

  Mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable free_;
  std::uint64_t made_ LAPSE_GUARDED_BY(mutex_) = 0;      // batches ever made
  std::uint64_t given_ LAPSE_GUARDED_BY(mutex_) = 0;     // by next()
  std::uint64_t released_ LAPSE_GUARDED_BY(mutex_) = 0;  // batches whose places are free again
  // While they wait: the number of made batches that wakes the user, of released ones that wakes the maker.
  std::optional<std::uint64_t> wake_user_at_ LAPSE_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> wake_maker_at_ LAPSE_GUARDED_BY(mutex_);
  bool finished_ LAPSE_GUARDED_BY(mutex_) = false;
  bool stopped_ LAPSE_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ LAPSE_GUARDED_BY(mutex_);
};

}  // namespace lapse::io
