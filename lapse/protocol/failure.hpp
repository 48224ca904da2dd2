// Whether some rank has failed, seen by every thread of this one.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "lapse/core/error.hpp"

namespace lapse {

// Thread safety: any thread. The first report stays; once raised it is never taken back.
class Failure {
 public:
  bool raised() const { return raised_.load(std::memory_order_acquire); }

  // True when this was the first report.
  bool raise(Rank origin, std::string text) {
    const std::lock_guard guard(mutex_);
    if (raised_.load(std::memory_order_relaxed)) return false;
    origin_ = origin;
    text_ = std::move(text);
    raised_.store(true, std::memory_order_release);
    return true;
  }

  [[noreturn]] void rethrow() const { throw PeerFailed(origin_, text_); }
  void check() const {
    if (raised()) [[unlikely]]
      rethrow();
  }
  // Meaningful when raised.
  Rank origin() const { return origin_; }
  const std::string& text() const { return text_; }

 private:
  std::atomic<bool> raised_{false};
  std::mutex mutex_;
  Rank origin_;
  std::string text_;
};

}  // namespace lapse
