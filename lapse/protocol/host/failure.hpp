// The failure of some rank, visible to every thread of this rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/mutex.hpp"

namespace lapse {

// Thread safety: any thread. The first report stays; a raised failure is never cleared.
class Failure {
 public:
  // A message of up to this many bytes is stored without allocating when the failure is raised.
  static constexpr std::size_t kReservedText = 512;

  Failure() { text_.reserve(kReservedText); }

  bool raised() const { return raised_.load(std::memory_order_acquire); }

  // Returns true for the first report. If memory for a long message cannot be allocated, keeps its beginning.
  bool raise(Rank origin, std::string_view text) noexcept {
    const MutexLock guard(mutex_);
    if (raised_.load(std::memory_order_relaxed)) return false;
    origin_ = origin;
    try {
      text_ = text;
    } catch (const std::bad_alloc&) {
      text_ = text.substr(0, kReservedText);
    }
    raised_.store(true, std::memory_order_release);
    return true;
  }

  [[noreturn]] void rethrow() const LAPSE_NO_THREAD_SAFETY_ANALYSIS { throw PeerFailed(origin_, text_); }
  void check() const {
    if (raised()) [[unlikely]]
      rethrow();
  }
  // Requires raised(): then origin and message are constant and are read without the lock.
  Rank origin() const LAPSE_NO_THREAD_SAFETY_ANALYSIS { return origin_; }
  const std::string& text() const LAPSE_NO_THREAD_SAFETY_ANALYSIS { return text_; }

 private:
  std::atomic<bool> raised_{false};
  Mutex mutex_;
  Rank origin_ LAPSE_GUARDED_BY(mutex_);
  std::string text_ LAPSE_GUARDED_BY(mutex_);
};

}  // namespace lapse
