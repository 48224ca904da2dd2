// Decides whether all ranks have quiesced.
#pragma once

#include <cstdint>
#include <optional>

namespace lapse {

// Termination detection by waves (Mattern's four counters). In each wave every rank adds how many frames it
// has sent and received, and whether it is passive at that moment: workers done or waiting, nothing queued,
// held or arriving. When two waves in a row find every rank passive, all frames received that were sent, and
// the same counts, no frame was in flight between the two waves.
//
// Pure: one object per rank, which observes the sums of each wave; all ranks reach the same verdict.
class Quiescence {
 public:
  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t busy = 0;     // ranks that are not passive
    std::uint64_t waiting = 0;  // ranks whose workers wait for the end of the detection and go on then

    Counts& operator+=(const Counts& other) {
      sent += other.sent;
      received += other.received;
      busy += other.busy;
      waiting += other.waiting;
      return *this;
    }
    bool operator==(const Counts&) const = default;
  };

  // The sums of one wave over all ranks. True when all ranks have quiesced: no further wave is needed.
  bool observe(const Counts& sums) {
    const bool quiet = sums.busy == 0 && sums.sent == sums.received && last_ == sums;
    last_ = sums;
    return quiet;
  }

 private:
  std::optional<Counts> last_;
};

}  // namespace lapse
