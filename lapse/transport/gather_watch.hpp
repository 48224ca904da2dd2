// Follows a collective control call that takes long.
#pragma once

#include <chrono>
#include <span>

#include "lapse/core/types.hpp"

namespace lapse {

// Called by the thread that waits in Transport::all_gather.
class GatherWatch {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Length of the wait before the first report, and between reports; zero: no reports.
  virtual Duration patience() const = 0;
  // `missing`: the ranks that have given no sign of making the call; all others have made it.
  virtual void report(Duration waited, std::span<const Rank> missing) noexcept = 0;

 protected:
  ~GatherWatch() = default;
};

}  // namespace lapse
