#include "lapse/io/loading/batch_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse::io {

BatchRing::BatchRing(std::size_t places, std::size_t held, std::size_t ready_before_first)
    : places_(places), held_(held), ready_before_first_(ready_before_first) {
  if (held < 1 || places <= held || ready_before_first < 1 || ready_before_first > places - held) {
    throw UsageError(
        fmt::format("a ring of {} batches, of which {} are held and {} ready before the first: expected at "
                    "least 1 held, at least 1 ready, and space for both",
                    places, held, ready_before_first));
  }
}

std::optional<std::uint64_t> BatchRing::begin() {
  const MutexLock lock(mutex_);
  if (!stopped_ && made_ - released_ == places_) {
    wake_maker_at_ = made_ - places_ + (places_ - held_ + 1) / 2;
    mutex_.wait(free_, [this]() LAPSE_REQUIRES(mutex_) { return stopped_ || released_ >= *wake_maker_at_; });
    wake_maker_at_.reset();
  }
  if (stopped_) return std::nullopt;
  return made_;
}

void BatchRing::end() {
  const MutexLock lock(mutex_);
  ++made_;
  if (wake_user_at_ && made_ >= *wake_user_at_) ready_.notify_one();
}

void BatchRing::finish(std::exception_ptr failure) {
  const MutexLock lock(mutex_);
  finished_ = true;
  failure_ = std::move(failure);
  ready_.notify_one();
}

std::optional<std::uint64_t> BatchRing::next() {
  process_.check("the next batch of a loader");
  const MutexLock lock(mutex_);
  if (given_ >= held_) released_ = given_ - held_ + 1;
  if (wake_maker_at_ && released_ >= *wake_maker_at_) free_.notify_one();
  const bool is_first = given_ == 0;
  if (!finished_ && (is_first || made_ == given_)) {
    const std::uint64_t ready =
        is_first ? ready_before_first_ : std::clamp<std::uint64_t>((places_ - held_) / 2, 1, kReadyAfterWait);
    wake_user_at_ = given_ + ready;
    mutex_.wait(ready_, [this]() LAPSE_REQUIRES(mutex_) { return finished_ || made_ >= *wake_user_at_; });
    wake_user_at_.reset();
  }
  if (made_ == given_) {
    if (failure_) std::rethrow_exception(failure_);
    return std::nullopt;
  }
  return given_++;
}

void BatchRing::stop() {
  if (is_left()) return;
  const MutexLock lock(mutex_);
  stopped_ = true;
  free_.notify_one();
}

}  // namespace lapse::io
