#include "lapse/io/matrices/zipf_distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lapse/core/error.hpp"

namespace lapse::io {

namespace {

// log(1 + x) / x and (e^x - 1) / x, continuous at 0, keep the integral exact for exponents near 1.
double log1p_ratio(double x) {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2;
}
double expm1_ratio(double x) {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2;
}

}  // namespace

ZipfDistribution::ZipfDistribution(std::uint64_t n, double exponent)
    : n_(static_cast<double>(n)), exponent_(exponent) {
  if (n == 0 || !(exponent > 0) || !std::isfinite(exponent)) {
    throw UsageError(fmt::format(
        "Zipf distribution over 1 to {} with exponent {}: expected n >= 1, exponent > 0", n, exponent));
  }
  integral_begin_ = integral(1.5) - 1;
  integral_end_ = integral(n_ + 0.5);
  squeeze_ = 2 - integral_inverse(integral(2.5) - density(2));
}

std::uint64_t ZipfDistribution::operator()(RandomEngine& random) const {
  for (;;) {
    const double y = integral_end_ + random.uniform() * (integral_begin_ - integral_end_);
    const double x = integral_inverse(y);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, n_);
    if (k - x <= squeeze_ || y >= integral(k + 0.5) - density(k)) return static_cast<std::uint64_t>(k);
  }
}

double ZipfDistribution::integral(double x) const {
  const double log_x = std::log(x);
  return expm1_ratio((1 - exponent_) * log_x) * log_x;
}

double ZipfDistribution::integral_inverse(double y) const {
  const double t = std::max(-1.0, y * (1 - exponent_));
  return std::exp(log1p_ratio(t) * y);
}

double ZipfDistribution::density(double x) const {
  return std::exp(-exponent_ * std::log(x));
}

}  // namespace lapse::io
