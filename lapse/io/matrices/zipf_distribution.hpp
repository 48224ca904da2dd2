// Zipf's distribution over 1 to n.
#pragma once

#include <cstdint>

#include "lapse/core/export.hpp"
#include "lapse/core/random.hpp"

namespace lapse::io {

// P(k) proportional to k^-exponent for k in [1, n]. Samples by rejection-inversion (Hoermann and Derflinger:
// Rejection-inversion to generate variates from monotone discrete distributions, 1996): constant time and no
// tables for any n. Immutable, so any number of threads may sample from one.
class LAPSE_EXPORT ZipfDistribution {
 public:
  // Throws UsageError unless n >= 1 and exponent is finite and positive.
  ZipfDistribution(std::uint64_t n, double exponent);

  std::uint64_t operator()(RandomEngine& random) const;

 private:
  // An antiderivative of x^-exponent, and its inverse.
  double integral(double x) const;
  double integral_inverse(double y) const;
  double density(double x) const;

  double n_;
  double exponent_;
  double integral_begin_;
  double integral_end_;
  // Values at most this far below the density's step are accepted without computing the integral.
  double squeeze_;
};

}  // namespace lapse::io
