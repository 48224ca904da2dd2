// The regularization of a linear model.
#pragma once

#include <cmath>

namespace lapse::apps {

// R(w) = l1 |w|_1 + l2 / 2 |w|^2.
struct Penalty {
  double l1 = 0;
  double l2 = 1;

  double value(double l1_norm, double squared_norm) const { return l1 * l1_norm + l2 / 2 * squared_norm; }
  // Of the largest v . w - R(w), in one coordinate. Requires l2 > 0.
  double dual(double v) const {
    const double excess = std::abs(v) - l1;
    return excess > 0 ? excess * excess / (2 * l2) : 0;
  }
  // The w of that. Requires l2 > 0.
  double weight(double v) const {
    if (l1 == 0) return v / l2;
    return (v > l1 ? v - l1 : v < -l1 ? v + l1 : 0) / l2;
  }
};

}  // namespace lapse::apps
