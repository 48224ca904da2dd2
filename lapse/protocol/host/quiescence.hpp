// Decides whether all ranks have quiesced.
#pragma once

#include <cstdint>
#include <optional>

namespace lapse {

// Termination detection by waves (Mattern's four counters). In each wave, every rank adds the numbers of
// frames that it has sent and received, and whether it is passive at that moment: its workers are done or
// waiting, and nothing is queued, held or arriving. No frame was in flight between two waves in a row if both
// find every rank passive, as many frames received as sent, and the same counts.
//
// Pure: one object per rank observes the sums of each wave. All ranks reach the same verdict.
class Quiescence {
 public:
  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t busy = 0;     // ranks that are not passive
    std::uint64_t waiting = 0;  // ranks whose workers wait for the end of the detection, then continue

    Counts& operator+=(const Counts& other) {
      sent += other.sent;
      received += other.received;
      busy += other.busy;
      waiting += other.waiting;
      return *this;
    }
    bool operator==(const Counts&) const = default;
  };

  // Takes the sums of one wave over all ranks. True if all ranks have quiesced: no further wave is needed.
  bool observe(const Counts& sums) {
    const bool quiet = sums.busy == 0 && sums.sent == sums.received && last_ == sums;
    last_ = sums;
    return quiet;
  }

 private:
  std::optional<Counts> last_;
};

}  // namespace lapse
