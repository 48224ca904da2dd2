#include "apps/linear_model/loss.hpp"

namespace lapse::apps {

// With u = log(a / (C - a)), the slope of the maximized function is zero where
// f(u) = u + q C / (1 + exp(-u)) + z - q before = 0. f rises, at a rate of at least 1, and is convex below 0,
// concave above. So on the side of 0 that has the root, Newton's method comes at most once to the other side
// of the root, and then approaches it from one side.
double LogisticLoss::best_dual(double before, double z, double q, double cost) {
  constexpr int kMaxSteps = 1000;
  constexpr double kPrecision = 1e-13;
  const double all = q * cost;
  const double constant = z - q * before;
  const bool is_below = all / 2 + constant > 0;
  const double low = is_below ? -constant - all : 0;
  const double high = is_below ? 0 : -constant;
  double u = before > 0 && before < cost ? std::log(before / (cost - before)) : 0;
  u = std::clamp(u, low, high);
  for (int step = 0; step < kMaxSteps; ++step) {
    const double share = 1 / (1 + std::exp(-u));
    const double value = u + all * share + constant;
    const double next = std::clamp(u - value / (1 + all * share * (1 - share)), low, high);
    const double change = std::abs(next - u);
    u = next;
    if (change <= kPrecision * (1 + std::abs(u))) break;
  }
  return cost / (1 + std::exp(-u));
}

}  // namespace lapse::apps
