// Losses, their duals and penalties.
#include "apps/linear_model/loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/linear_model/penalty.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;

namespace {

const std::vector<double> kMargins{-800, -30, -2, -0.5, 0, 0.3, 0.999, 1.5, 4, 40, 800};

template <class L>
double dual_objective(double a, double before, double z, double q, double cost) {
  return L::dual(a, cost) - (a - before) * z - q * (a - before) * (a - before) / 2;
}

// The best dual variable is at least as good as all on a grid, and as its neighbours.
template <class L>
void check_best_dual(double cost, double most) {
  for (const double before : {0.0, cost * 1e-9, cost * 0.3, cost}) {
    for (const double z : {-30.0, -1.0, 0.0, 0.9, 1.1, 25.0}) {
      for (const double q : {1e-3, 0.5, 14.0, 3000.0}) {
        CAPTURE(cost, before, z, q);
        const double a = L::best_dual(before, z, q, cost);
        REQUIRE(a >= 0);
        REQUIRE(a <= most);
        const double best = dual_objective<L>(a, before, z, q, cost);
        const double slack = 1e-12 * (1 + std::abs(best));
        double largest = 0;
        for (int i = 0; i <= 1000; ++i) {
          const double other = std::min(cost * 2.5, most) * i / 1000;
          largest = std::max(largest, dual_objective<L>(other, before, z, q, cost) - best);
        }
        for (const double factor : {1 - 1e-5, 1 + 1e-5})
          if (a * factor <= most)
            largest = std::max(largest, dual_objective<L>(a * factor, before, z, q, cost) - best);
        CHECK(largest <= slack);
      }
    }
  }
}

}  // namespace

TEST_CASE("the slope of a loss is that of its values") {
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::hinge}) {
    with_loss(loss, [&]<class L>(L) {
      for (const double z : kMargins) {
        CAPTURE(to_string(loss), z);
        const double h = 1e-6;
        CHECK(L::value(z) >= 0);
        CHECK(L::slope(z) == Approx((L::value(z + h) - L::value(z - h)) / (2 * h)).margin(1e-6));
        if (L::kIsSmooth)
          CHECK(std::abs(L::slope(z + 0.01) - L::slope(z)) <= 0.01 * L::kCurvature * (1 + 1e-9));
      }
    });
  }
  CHECK(LogisticLoss::value(0) == Approx(std::log(2)));
  CHECK(LogisticLoss::value(-800) == Approx(800));
  CHECK(LogisticLoss::value(800) == 0);
  CHECK(SquaredHingeLoss::value(-2) == 9);
  CHECK(HingeLoss::value(0.25) == 0.75);
}

TEST_CASE("the best dual variable maximizes the dual in its coordinate") {
  const double unbounded = std::numeric_limits<double>::infinity();
  for (const double cost : {0.01, 1.0, 50.0}) {
    check_best_dual<LogisticLoss>(cost, cost);
    check_best_dual<HingeLoss>(cost, cost);
    check_best_dual<SquaredHingeLoss>(cost, unbounded);
  }
}

TEST_CASE("duals are conjugates of the losses") {
  // The largest dual(a) - a z over a is cost * loss(z).
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::hinge}) {
    with_loss(loss, [&]<class L>(L) {
      for (const double z : {-3.0, -0.2, 0.0, 0.7, 1.2, 3.0}) {
        const double cost = 2;
        double largest = 0;
        for (int i = 0; i <= 100000; ++i) {
          const double a = (loss == Loss::squared_hinge ? 10 : 1) * cost * i / 100000;
          largest = std::max(largest, L::dual(a, cost) - a * z);
        }
        CAPTURE(to_string(loss), z);
        CHECK(largest == Approx(cost * L::value(z)).margin(1e-6));
      }
    });
  }
}

TEST_CASE("weights maximize the dual of the penalty") {
  for (const Penalty& penalty : {Penalty{.l1 = 0, .l2 = 1}, Penalty{.l1 = 0.4, .l2 = 0.6}}) {
    for (const double v : {-3.0, -0.4, -0.1, 0.0, 0.39, 0.5, 2.0}) {
      CAPTURE(penalty.l1, v);
      const double weight = penalty.weight(v);
      const double best = v * weight - penalty.value(std::abs(weight), weight * weight);
      CHECK(penalty.dual(v) == Approx(best).margin(1e-15));
      for (int i = -1000; i <= 1000; ++i) {
        const double other = i * 0.01;
        CHECK(v * other - penalty.value(std::abs(other), other * other) <= best + 1e-12);
      }
    }
  }
}
