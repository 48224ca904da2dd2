// The library's only sleep that no thread ends: between two polls of what another process changes without a
// notification.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace lapse {

// For a thread that has already waited for `waited`: sleeps for a fraction of that, at most 1 ms, so that the
// wait is only slightly longer than necessary and uses little processor time.
inline void sleep_between_polls(std::chrono::steady_clock::duration waited) {
  constexpr int kPart = 12;
  constexpr std::chrono::steady_clock::duration kLongest = std::chrono::milliseconds(1);
  std::this_thread::sleep_for(std::min(waited / kPart, kLongest));
}

}  // namespace lapse
