// The optimisers, compared with their formulas in double precision, one element at a time.
#include <cmath>
#include <functional>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "test/support/catch.hpp"

using lapse::Adagrad;
using lapse::Adam;
using lapse::Ftrl;
using lapse::RowwiseAdagrad;
using lapse::Sgd;
using lapse::UpdateKernel;
using lapse::UpdateRule;

namespace {

constexpr std::size_t kLength = 19;
constexpr std::size_t kPushes = 60;

using Numbers = std::vector<double>;

// Values and gradients around 0, like in training.
Numbers numbers(std::uint64_t seed) {
  const lapse::PositionalRandom random(seed);
  Numbers result(kLength);
  for (std::size_t i = 0; i < kLength; ++i) result[i] = random.uniform(lapse::Key(seed), i) * 2 - 1;
  return result;
}

float scale_of(std::size_t push) {
  return push % 4 == 3 ? 0.25F : 1.0F;
}

// The effect of a push on the value, in double precision.
using Step = std::function<void(Numbers& value, const Numbers& gradient, double scale)>;

template <class T>
void check_against(const UpdateRule& rule, const Step& step, double tolerance) {
  const UpdateKernel kernel(rule, lapse::element_type<T>());
  Numbers expected = numbers(0);
  for (double& x : expected) x = static_cast<double>(static_cast<T>(x));
  std::vector<T> slot(expected.begin(), expected.end());
  slot.resize(kLength + rule.state_elements(kLength), T{-77});
  std::byte* value = reinterpret_cast<std::byte*>(slot.data());
  kernel.initialise(value, kLength);

  for (std::size_t push = 1; push <= kPushes; ++push) {
    Numbers gradient = numbers(push);
    // Features that do not occur have a gradient of 0.
    gradient[push % kLength] = 0;
    std::vector<T> update(gradient.begin(), gradient.end());
    gradient.assign(update.begin(), update.end());
    kernel.apply(value, reinterpret_cast<const std::byte*>(update.data()), kLength, scale_of(push));
    step(expected, gradient, static_cast<double>(scale_of(push)));
    for (std::size_t i = 0; i < kLength; ++i) {
      CAPTURE(rule.to_string(), push, i);
      CHECK(static_cast<double>(slot[i]) == Approx(expected[i]).epsilon(0).margin(tolerance));
    }
  }
  for (const T& number : slot) CHECK(number != T{-77});
}

// Values and steps are about 1: 60 pushes accumulate some tens of rounding units.
void check_formula(const UpdateRule& rule, const std::function<Step()>& make_step) {
  check_against<float>(rule, make_step(), 2e-5);
  check_against<double>(rule, make_step(), 4e-14);
}

Step sgd(const Sgd& p) {
  return [p](Numbers& value, const Numbers& gradient, double scale) {
    for (std::size_t i = 0; i < kLength; ++i)
      value[i] = value[i] - scale * p.learning_rate * (gradient[i] + p.l2 * value[i]);
  };
}

Step adagrad(const Adagrad& p) {
  return [p, sums = Numbers(kLength, p.initial_accumulator)](Numbers& value, const Numbers& gradient,
                                                             double scale) mutable {
    for (std::size_t i = 0; i < kLength; ++i) {
      const double g = gradient[i] + p.l2 * value[i];
      sums[i] += std::pow(g, 2);
      value[i] -= scale * p.learning_rate / (std::pow(sums[i], 0.5) + p.epsilon) * g;
    }
  };
}

Step rowwise_adagrad(const RowwiseAdagrad& p) {
  return [p, sum = p.initial_accumulator](Numbers& value, const Numbers& gradient, double scale) mutable {
    Numbers g(kLength);
    double mean = 0;
    for (std::size_t i = 0; i < kLength; ++i) {
      g[i] = gradient[i] + p.l2 * value[i];
      mean += std::pow(g[i], 2) / kLength;
    }
    sum += mean;
    for (std::size_t i = 0; i < kLength; ++i)
      value[i] -= scale * p.learning_rate / (std::pow(sum, 0.5) + p.epsilon) * g[i];
  };
}

Step adam(const Adam& p) {
  return [p, m = Numbers(kLength), v = Numbers(kLength), t = 0](Numbers& value, const Numbers& gradient,
                                                                double scale) mutable {
    ++t;
    for (std::size_t i = 0; i < kLength; ++i) {
      const double g = gradient[i] + p.l2 * value[i];
      m[i] = p.beta1 * m[i] + (1 - p.beta1) * g;
      v[i] = p.beta2 * v[i] + (1 - p.beta2) * std::pow(g, 2);
      const double m_hat = m[i] / (1 - std::pow(p.beta1, t));
      const double v_hat = v[i] / (1 - std::pow(p.beta2, t));
      value[i] -= scale * p.learning_rate * m_hat / (std::pow(v_hat, 0.5) + p.epsilon);
    }
  };
}

// For a value w with n = 0: computes the z for which the closed form gives w.
Step ftrl(const Ftrl& p) {
  return [p, z = Numbers(), n = Numbers(kLength)](Numbers& value, const Numbers& gradient,
                                                  double scale) mutable {
    if (z.empty()) {
      for (const double w : value) {
        const double sign = w > 0 ? 1 : -1;
        z.push_back(-w * (p.beta / p.alpha + p.l2) - sign * p.l1);
      }
    }
    for (std::size_t i = 0; i < kLength; ++i) {
      const double g = gradient[i];
      const double sigma = (std::sqrt(n[i] + g * g) - std::sqrt(n[i])) / p.alpha;
      z[i] += scale * g - sigma * value[i];
      n[i] += g * g;
      const double sign = z[i] > 0 ? 1 : -1;
      value[i] =
          std::abs(z[i]) <= p.l1 ? 0 : -(z[i] - sign * p.l1) / ((p.beta + std::sqrt(n[i])) / p.alpha + p.l2);
    }
  };
}

}  // namespace

TEST_CASE("SGD follows its formula") {
  for (const Sgd& p : {Sgd(), Sgd{.learning_rate = 0.2, .l2 = 0.1}})
    check_formula(UpdateRule::sgd(p), [&] { return sgd(p); });
}

TEST_CASE("Adagrad follows its formula") {
  for (const Adagrad& p :
       {Adagrad(), Adagrad{.learning_rate = 0.2, .l2 = 0.1, .initial_accumulator = 0.5, .epsilon = 0.01}})
    check_formula(UpdateRule::adagrad(p), [&] { return adagrad(p); });
}

TEST_CASE("Row-wise Adagrad follows its formula") {
  for (const RowwiseAdagrad& p :
       {RowwiseAdagrad(),
        RowwiseAdagrad{.learning_rate = 0.2, .l2 = 0.1, .initial_accumulator = 0.5, .epsilon = 0.01}})
    check_formula(UpdateRule::rowwise_adagrad(p), [&] { return rowwise_adagrad(p); });
}

TEST_CASE("Adam follows its formula") {
  for (const Adam& p :
       {Adam(), Adam{.learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 0.001, .l2 = 0.1},
        Adam{.beta1 = 0, .beta2 = 0}})
    check_formula(UpdateRule::adam(p), [&] { return adam(p); });
}

TEST_CASE("FTRL follows its formula") {
  for (const Ftrl& p : {Ftrl(), Ftrl{.alpha = 0.5, .beta = 0.5, .l1 = 0.3, .l2 = 0.1},
                        Ftrl{.alpha = 1, .beta = 0, .l1 = 0, .l2 = 1}})
    check_formula(UpdateRule::ftrl(p), [&] { return ftrl(p); });
}

TEST_CASE("Adam's bias correction ends where the formula's does") {
  const Adam p{.learning_rate = 1, .beta1 = 0.5, .beta2 = 0.999, .epsilon = 1};
  const UpdateKernel kernel(UpdateRule::adam(p), lapse::ElementType::float64);
  // With g = 1 and initial m = v = 1, m and v stay 1: a step shows only the correction of v.
  for (const double steps : {1.0, 100.0, 21000.0, 30000.0, 39999.0, 40000.0, 1e6, 1e15}) {
    std::vector<double> slot{0, 1, 1, steps};
    const double gradient = 1;
    kernel.apply(reinterpret_cast<std::byte*>(slot.data()), reinterpret_cast<const std::byte*>(&gradient), 1);
    const double m_hat = 1 / (1 - std::pow(p.beta1, steps + 1));
    const double v_hat = 1 / (1 - std::pow(p.beta2, steps + 1));
    CHECK(slot[0] == Approx(-m_hat / (std::sqrt(v_hat) + 1)).epsilon(1e-14));
    CHECK(slot[3] == steps + 1);
  }
}

TEST_CASE("In float, Adam counts to 2^24 and goes on") {
  const UpdateKernel kernel(UpdateRule::adam(), lapse::ElementType::float32);
  std::vector<float> slot{0, 0, 0, 0x1p24F};
  const float gradient = 1;
  kernel.apply(reinterpret_cast<std::byte*>(slot.data()), reinterpret_cast<const std::byte*>(&gradient), 1);
  CHECK(slot[3] == 0x1p24F);
  CHECK(slot[0] == Approx(-0.001 * 0.1 / (std::sqrt(0.001) + 1e-8)));
}
