// The axis of a chart.
#pragma once

#include <string>
#include <vector>

namespace lapse::apps {

enum class AxisScale { linear, logarithmic };

struct AxisOptions {
  int max_ticks = 6;
  bool integers = false;   // ticks at integers alone
  bool from_zero = false;  // begins at 0, if no value is negative
  bool percent = false;    // labels in percent
  bool rounds_out = true;  // begins and ends at ticks, not at the lowest and the highest value
  // Logarithmic if all values are positive and the largest is more than this multiple of the smallest; 0:
  // never.
  double logarithmic_from = 0;
};

struct AxisTick {
  double value;
  std::string label;
};

// Maps values to positions from 0 to 1. Values above kMaxSize in size are gaps, as those that are not
// finite.
class Axis {
 public:
  static constexpr double kMaxSize = 1e300;
  static bool is_shown(double value);

  // Over those of the values that are shown, with space around them if they are all equal; over 0 to 1 if
  // there are none.
  static Axis over(const std::vector<double>& values, const AxisOptions& options);

  // NaN for a value that the axis has no position for.
  double position(double value) const;
  AxisScale scale() const { return scale_; }
  double low() const { return low_; }
  double high() const { return high_; }
  const std::vector<AxisTick>& ticks() const { return ticks_; }

 private:
  void make_linear(double low, double high, const AxisOptions& options);
  void make_logarithmic(double low, double high, const AxisOptions& options);

  AxisScale scale_ = AxisScale::linear;
  double low_ = 0;
  double high_ = 1;
  std::vector<AxisTick> ticks_;
};

}  // namespace lapse::apps
