// Losses of linear models, and their duals.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace lapse::apps {

enum class Loss : std::uint8_t { logistic, squared_hinge, hinge };

constexpr std::string_view to_string(Loss loss) {
  switch (loss) {
    case Loss::logistic:
      return "logistic";
    case Loss::squared_hinge:
      return "squared-hinge";
    case Loss::hinge:
      break;
  }
  return "hinge";
}

// Each loss is a function of the margin z = y (x . w), where the label y is -1 or 1. Of its slope, the
// largest change is kCurvature per unit of z.
//
// With the cost C, a sample has a dual variable a from 0 to C (from 0 if the loss is the squared hinge). The
// dual of minimizing R(w) + C sum loss(z_i) is maximizing sum dual(a_i) - R*(v) with v = sum a_i y_i x_i;
// Shalev-Shwartz and Zhang, Stochastic Dual Coordinate Ascent Methods, JMLR 2013. best_dual returns the a
// that maximizes dual(a) - (a - before) z - q (a - before)^2 / 2, for q > 0.

struct LogisticLoss {
  static constexpr bool kIsSmooth = true;
  static constexpr double kCurvature = 0.25;

  static double value(double z) { return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z; }
  static double slope(double z) {
    if (z > 0) {
      const double small = std::exp(-z);
      return -small / (1 + small);
    }
    return -1 / (1 + std::exp(z));
  }
  static double dual(double a, double cost) {
    const auto x_log_x = [](double x) { return x > 0 ? x * std::log(x) : 0; };
    return cost * std::log(cost) - x_log_x(a) - x_log_x(cost - a);
  }
  static double best_dual(double before, double z, double q, double cost);
};

struct SquaredHingeLoss {
  static constexpr bool kIsSmooth = true;
  static constexpr double kCurvature = 2;

  static double value(double z) {
    const double distance = std::max(0.0, 1 - z);
    return distance * distance;
  }
  static double slope(double z) { return -2 * std::max(0.0, 1 - z); }
  static double dual(double a, double cost) { return a - a * a / (4 * cost); }
  static double best_dual(double before, double z, double q, double cost) {
    const double curvature = q + 1 / (2 * cost);
    return std::max(0.0, before + (1 - z - before / (2 * cost)) / curvature);
  }
};

struct HingeLoss {
  static constexpr bool kIsSmooth = false;
  static constexpr double kCurvature = 0;

  static double value(double z) { return std::max(0.0, 1 - z); }
  static double slope(double z) { return z < 1 ? -1 : 0; }
  static double dual(double a, double) { return a; }
  static double best_dual(double before, double z, double q, double cost) {
    return std::clamp(before + (1 - z) / q, 0.0, cost);
  }
};

// Returns f with an object of the loss's class.
template <class F>
decltype(auto) with_loss(Loss loss, F&& f) {
  switch (loss) {
    case Loss::logistic:
      return f(LogisticLoss());
    case Loss::squared_hinge:
      return f(SquaredHingeLoss());
    case Loss::hinge:
      break;
  }
  return f(HingeLoss());
}

inline bool is_smooth(Loss loss) {
  return loss != Loss::hinge;
}

}  // namespace lapse::apps
