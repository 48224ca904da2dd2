#include "lapse/core/statistics/copy_series.hpp"

#include <algorithm>
#include <utility>

namespace lapse {

void CopySeries::add(Clock::time_point now, std::vector<std::uint64_t> copies) {
  if (samples_.size() == kSamples) {
    for (std::size_t i = 0; i < kSamples / 2; ++i) samples_[i] = std::move(samples_[2 * i]);
    samples_.resize(kSamples / 2);
    interval_ *= 2;
  }
  samples_.push_back({std::chrono::duration<double>(now - start_).count(), std::move(copies)});
  due_ = now + interval_;
}

CopySummary summarize(const std::vector<CopySample>& samples, std::size_t table) {
  const auto at = [table](const CopySample& sample) {
    return table < sample.copies.size() ? sample.copies[table] : 0;
  };
  CopySummary summary;
  double area = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    summary.largest = std::max(summary.largest, at(samples[i]));
    // Each sample holds until the next.
    if (i + 1 < samples.size())
      area += static_cast<double>(at(samples[i])) * (samples[i + 1].seconds - samples[i].seconds);
  }
  if (samples.empty()) return summary;
  const double seconds = samples.back().seconds - samples.front().seconds;
  summary.mean = seconds > 0 ? area / seconds : static_cast<double>(at(samples.back()));
  return summary;
}

}  // namespace lapse
