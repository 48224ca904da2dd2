#include "apps/common/training_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lapse::apps {

namespace {

constexpr double kLeastImprovement = 1e-3;  // relative to the last value
constexpr double kSecondsPerMinute = 60;
constexpr double kSecondsPerHour = 3600;
constexpr double kManyUnits = 90;  // of seconds or minutes, above which the larger unit is shown

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < kManyUnits) return fmt::format("{:.0f} s", seconds);
  if (seconds < kManyUnits * kSecondsPerMinute) return fmt::format("{:.0f} min", seconds / kSecondsPerMinute);
  return fmt::format("{:.1f} h", seconds / kSecondsPerHour);
}

std::string RemainingTime::after(std::uint64_t epoch) {
  return after(epoch, std::chrono::duration<double>(Time::now() - begin_).count());
}

std::string RemainingTime::after(std::uint64_t epoch, double seconds) {
  if (!before_) before_ = epoch - 1;
  const auto done = static_cast<double>(epoch - *before_);
  const double left = epoch < epochs_ ? seconds / done * static_cast<double>(epochs_ - epoch) : 0;
  return left < 1 ? std::string() : fmt::format("  {} left", duration_text(left));
}

bool is_still_improving(std::span<const double> measures, bool larger_is_better) {
  if (measures.size() < 2) return false;
  const double last = measures.back();
  const double before = measures[measures.size() - 2];
  const double best = larger_is_better ? std::ranges::max(measures) : std::ranges::min(measures);
  const double gain = larger_is_better ? last - before : before - last;
  return last == best && gain > kLeastImprovement * std::abs(last);
}

std::string improvement_advice(const std::string& measure, std::span<const double> measures,
                               bool larger_is_better) {
  if (!is_still_improving(measures, larger_is_better)) return {};
  return fmt::format("the {} was still improving in the last epochs: more may help (--epochs)\n", measure);
}

}  // namespace lapse::apps
