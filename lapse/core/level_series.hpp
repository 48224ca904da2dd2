// How several numbers change over time, in bounded memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lapse {

// What the numbers were at a moment.
struct LevelSample {
  double seconds = 0;  // since the series was made
  std::vector<std::uint64_t> levels;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& seconds& levels;
  }

  bool operator==(const LevelSample&) const = default;
};

// At most kSamples, in the order of their times and about evenly spaced: when there are that many, every
// second one is removed, and samples are due half as often from then on. Thread safety: none.
class LevelSeries {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kSamples = 256;
  static constexpr std::chrono::milliseconds kFirstInterval{10};

  explicit LevelSeries(Clock::time_point start = Clock::now()) : start_(start), due_(start) {}

  bool is_due(Clock::time_point now) const { return now >= due_; }
  // Times do not decrease.
  void add(Clock::time_point now, std::vector<std::uint64_t> levels);
  const std::vector<LevelSample>& samples() const { return samples_; }

 private:
  Clock::time_point start_;
  Clock::time_point due_;
  Clock::duration interval_ = kFirstInterval;
  std::vector<LevelSample> samples_;
};

// The mean over time and the largest of one of the numbers; 0 where there are no samples. A sample without
// the number has 0.
struct LevelSummary {
  double mean = 0;
  std::uint64_t largest = 0;
};
LevelSummary summarize(const std::vector<LevelSample>& samples, std::size_t level);

}  // namespace lapse
