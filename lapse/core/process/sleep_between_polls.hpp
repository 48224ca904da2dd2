// The one sleep of the library that no thread ends: between two polls of what another process changes without
// a ring.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace lapse {

// For a thread that has waited for `waited` already: sleeps for a part of that, at most 1 ms, so that the
// wait takes little longer than it must and little of a processor.
inline void sleep_between_polls(std::chrono::steady_clock::duration waited) {
  constexpr int kPart = 12;
  constexpr std::chrono::steady_clock::duration kLongest = std::chrono::milliseconds(1);
  std::this_thread::sleep_for(std::min(waited / kPart, kLongest));
}

}  // namespace lapse
