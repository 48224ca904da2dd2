// Follows a collective call of control that takes long.
#pragma once

#include <chrono>
#include <span>

#include "lapse/core/types.hpp"

namespace lapse {

// Called by the thread that waits in Transport::all_gather.
class GatherWatch {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // How long the wait takes before the first report, and then from report to report; zero: no report.
  virtual Duration patience() const = 0;
  // `missing`: the ranks of which no sign shows that they have made the call; all others have made it.
  virtual void report(Duration waited, std::span<const Rank> missing) noexcept = 0;

 protected:
  ~GatherWatch() = default;
};

}  // namespace lapse
