// Has everything come to rest, on all ranks?
#pragma once

#include <cstdint>
#include <optional>

namespace lapse {

// Termination detection by waves (Mattern's four counters). In each wave every rank adds how many frames it
// has sent and received, at a moment when it is passive: workers done, nothing queued, held or arriving. When
// two waves in a row find all that was sent received, and the same numbers, nothing was under way between
// them.
//
// Pure: one object per rank, fed with the sums of each wave; all ranks come to the same verdict.
class Quiescence {
 public:
  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;

    Counts& operator+=(const Counts& other) {
      sent += other.sent;
      received += other.received;
      return *this;
    }
    bool operator==(const Counts&) const = default;
  };

  // The sums of one wave over all ranks. True: quiet, no further wave.
  bool observe(const Counts& sums) {
    const bool quiet = sums.sent == sums.received && last_ == sums;
    last_ = sums;
    return quiet;
  }

 private:
  std::optional<Counts> last_;
};

}  // namespace lapse
