#include "lapse/stage/iteration_times.hpp"

#include <algorithm>

namespace lapse::stage {

double IterationTimes::median_seconds() const {
  if (seconds_.empty()) return 0;
  std::vector<double> sorted(seconds_.begin() + (seconds_.size() > 2 * kFirst ? kFirst : 0), seconds_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace lapse::stage
