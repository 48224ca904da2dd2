#include "apps/report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "apps/report/number_text.hpp"

namespace lapse::apps {

namespace {

constexpr double kMinSize = 1e-290;    // smaller values are as 0: their steps would be none
constexpr double kMaxCounted = 1e6;    // larger integers are not counted one by one
constexpr double kNearlyEqual = 1e-9;  // of the values' size
constexpr double kMinUnit = 1e4;       // labels below have no unit such as k
constexpr double kMaxUnit = 1e15;
constexpr double kMinStep = 1e-5;  // steps below have labels such as 2e-06

struct Unit {
  double size;
  const char* name;
};
constexpr std::array kUnits{Unit{1e3, "k"}, Unit{1e6, "M"}, Unit{1e9, "G"}, Unit{1e12, "T"}};

double without_tiny(double value) {
  return std::abs(value) < kMinSize ? 0 : value;
}

// The smallest of 1, 2, 5, 10, 20, ... that is not below.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0})
    if (digit * power >= least * (1 - kNearlyEqual)) return digit * power;
  return 10 * power;
}

int decimals_of(double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + kNearlyEqual)));
}

// `largest`: in size, on the axis.
std::string tick_text(double value, double step, double largest, bool percent) {
  if (percent) return fixed_text(100 * value, decimals_of(100 * step)) + "\u00a0%";
  if (largest >= kMaxUnit || step < kMinStep) return value == 0 ? "0" : fmt::format("{:.4g}", value);
  if (largest < kMinUnit) return fixed_text(value, decimals_of(step));
  Unit unit = kUnits.front();
  for (const Unit& each : kUnits)
    if (each.size <= largest) unit = each;
  return value == 0 ? "0" : fixed_text(value / unit.size, decimals_of(step / unit.size)) + unit.name;
}

std::string power_text(double value) {
  const bool is_short = value >= 1e-3 && value < kMinUnit;
  return is_short ? fmt::format("{:g}", value) : fmt::format("1e{:.0f}", std::log10(value));
}

}  // namespace

bool Axis::is_shown(double value) {
  return std::abs(value) <= kMaxSize;
}

Axis Axis::over(const std::vector<double>& values, const AxisOptions& options) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (!is_shown(value)) continue;
    low = std::min(low, without_tiny(value));
    high = std::max(high, without_tiny(value));
  }
  Axis axis;
  if (low > high) {
    low = 0;
    high = 1;
  } else if (options.logarithmic_from > 0 && low > 0 && high / low > options.logarithmic_from) {
    axis.make_logarithmic(low, high, options);
    return axis;
  }
  if (options.from_zero && low > 0) low = 0;
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= kNearlyEqual * size || size == 0) {
    const double space = options.integers && size < kMaxCounted ? 0.5 : size == 0 ? 1 : 0.1 * size;
    if (!options.from_zero || low < 0) low -= space;
    high += space;
  }
  axis.make_linear(low, high, options);
  return axis;
}

void Axis::make_linear(double low, double high, const AxisOptions& options) {
  // Halves, because the difference of the largest values is none.
  double step = round_step(2 * ((high / 2 - low / 2) / options.max_ticks));
  if (options.integers) step = std::max(1.0, step);
  low_ = options.rounds_out ? step * std::floor(low / step + kNearlyEqual) : low;
  high_ = options.rounds_out ? step * std::ceil(high / step - kNearlyEqual) : high;
  if (high_ <= low_) high_ = low_ + step;  // of integers, with values that are nearly 0
  const double largest = std::max(std::abs(low_), std::abs(high_));
  const double first = std::ceil(low_ / step - kNearlyEqual);
  for (double i = 0; i <= 4 * options.max_ticks; ++i) {
    const double value = step * (first + i);
    if (value > high_ + kNearlyEqual * step) break;
    ticks_.push_back({value, tick_text(value, step, largest, options.percent)});
  }
}

void Axis::make_logarithmic(double low, double high, const AxisOptions& options) {
  scale_ = AxisScale::logarithmic;
  const double first = std::floor(std::log10(low) + kNearlyEqual);
  const double last = std::ceil(std::log10(high) - kNearlyEqual);
  const double step = std::max(1.0, std::ceil((last - first) / options.max_ticks));
  low_ = std::pow(10, first);
  high_ = std::pow(10, last);
  for (double exponent = first; exponent <= last; exponent += step)
    ticks_.push_back({std::pow(10, exponent), power_text(std::pow(10, exponent))});
}

double Axis::position(double value) const {
  if (!is_shown(value)) return std::numeric_limits<double>::quiet_NaN();
  if (scale_ == AxisScale::linear) return (value / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
  if (value <= 0) return std::numeric_limits<double>::quiet_NaN();
  return (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
}

}  // namespace lapse::apps
