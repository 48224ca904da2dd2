// Steps of proximal gradient descent on one weight, many at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace lapse::apps {

// A step is w <- soft(w - h g, h l1) / (1 + h l2), where soft(x, t) moves x by t towards 0: a gradient step
// with the size h, then the proximal operator of l1 |w| + l2 / 2 w^2. While the gradient g of a weight stays,
// any number of steps costs the same. Immutable.
class ProximalSteps {
 public:
  // For at most `most` steps at once.
  ProximalSteps(double step_size, double l1, double l2, std::size_t most)
      : step_size_(step_size), threshold_(step_size * l1), decay_(1 / (1 + step_size * l2)) {
    powers_.reserve(most + 1);
    sums_.reserve(most + 1);
    double power = 1;
    double sum = 0;
    for (std::size_t i = 0; i <= most; ++i) {
      powers_.push_back(power);
      sums_.push_back(sum);
      power *= decay_;
      sum += power;
    }
  }

  double one(double w, double gradient) const {
    const double moved = w - step_size_ * gradient;
    return std::copysign(std::max(std::abs(moved) - threshold_, 0.0), moved) * decay_;
  }

  double many(double w, double gradient, std::size_t count) const {
    // Between changes of its sign, |w| follows p <- decay (p - drift). Signs change at most twice.
    while (count > 0) {
      if (w == 0) {
        if (step_size_ * std::abs(gradient) <= threshold_) return 0;
        w = one(w, gradient);
        --count;
        continue;
      }
      const double drift = (w > 0 ? gradient : -gradient) * step_size_ + threshold_;
      const double position = std::abs(w);
      const std::size_t steps = steps_before_zero(position, drift, count);
      w = std::copysign(powers_[steps] * position - sums_[steps] * drift, w);
      count -= steps;
      if (count == 0) break;
      w = one(w, gradient);
      --count;
    }
    return w;
  }

 private:
  // The largest number of steps, up to `most`, after which p is above 0.
  std::size_t steps_before_zero(double position, double drift, std::size_t most) const {
    const auto is_above = [&](std::size_t steps) { return powers_[steps] * position > sums_[steps] * drift; };
    if (is_above(most)) return most;
    std::size_t low = 0;
    std::size_t high = most;
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (is_above(middle) ? low : high) = middle;
    }
    return low;
  }

  double step_size_;
  double threshold_;
  double decay_;
  std::vector<double> powers_;  // decay^i
  std::vector<double> sums_;    // decay + decay^2 + .. + decay^i
};

}  // namespace lapse::apps
