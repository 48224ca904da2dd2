// Chooses accesses that leave a domain, to ask for their causes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "lapse/core/random.hpp"

namespace lapse {

// At first every access, later on average one in up to 1,024, with gaps of random length: a loop that
// accesses its keys in the same order each time is not always met at the same ones. Each choice has a weight,
// the accesses that it stands for; the weights add up to all accesses up to the last choice. Choices are
// skipped while asking has taken more than a hundredth of the time.
//
// Thread safety: none.
class RemoteSamples {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kMaxGap = 1024;

  // A call with `count` accesses. For each chosen one, ask(index, weight) is called; now() is the time.
  template <class Now, class Ask>
  void take(std::uint32_t count, Now&& now, Ask&& ask) {
    std::uint64_t at = 0;
    while (count - at > skip_) {
      at += skip_;
      passed_ += skip_ + 1;
      const Clock::time_point before = now();
      if (began_ == Clock::time_point()) began_ = before;
      if (spent_ * kLeastInterval <= before - began_ + kFree * kLeastInterval) {
        total_ += passed_;
        ask(static_cast<std::uint32_t>(at), std::exchange(passed_, 0));
        spent_ += now() - before;
      }
      ++at;
      // The mean gap.
      const std::uint64_t gap = std::clamp<std::uint64_t>(total_ / 64, 1, kMaxGap);
      skip_ = gap == 1 ? 0 : random_.below(2 * gap);
    }
    skip_ -= count - at;
    passed_ += count - at;
  }

 private:
  static constexpr int kLeastInterval = 100;            // of the time that asking takes
  static constexpr std::chrono::milliseconds kFree{1};  // which it may take in addition

  std::uint64_t skip_ = 0;    // accesses before the next choice
  std::uint64_t passed_ = 0;  // since the last choice
  std::uint64_t total_ = 0;
  Clock::time_point began_ = {};
  Clock::duration spent_{0};
  RandomEngine random_{0x1a95e};
};

}  // namespace lapse
