// How the numbers of replicas change over time, in bounded memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/statistics.hpp"

namespace lapse {

// At most kSamples samples, in time order and about evenly spaced: when full, every second one is removed,
// and samples are due half as often from then on. Thread safety: none.
class CopySeries {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kSamples = 256;
  static constexpr std::chrono::milliseconds kFirstInterval{10};

  explicit CopySeries(Clock::time_point start = Clock::now()) : start_(start), due_(start) {}

  bool is_due(Clock::time_point now) const { return now >= due_; }
  // Times must not decrease.
  void add(Clock::time_point now, std::vector<std::uint64_t> copies);
  const std::vector<CopySample>& samples() const { return samples_; }

 private:
  Clock::time_point start_;
  Clock::time_point due_;
  Clock::duration interval_ = kFirstInterval;
  std::vector<CopySample> samples_;
};

// The mean over time and the largest number of replicas of a table; 0 without samples. A sample without the
// table counts as 0.
struct CopySummary {
  double mean = 0;
  std::uint64_t largest = 0;
};
CopySummary summarize(const std::vector<CopySample>& samples, std::size_t table);

}  // namespace lapse
