// The special property of FTRL: its value is a function of its state.
#include <cmath>
#include <limits>
#include <vector>

#include "lapse/store/update_rules/update_kernel.hpp"
#include "test/support/catch.hpp"

using lapse::Ftrl;
using lapse::UpdateKernel;
using lapse::UpdateRule;

namespace {

// A slot with one value, initialised to `value`.
template <class T>
struct Slot {
  Slot(const Ftrl& parameters, T value)
      : kernel(UpdateRule::ftrl(parameters), lapse::element_type<T>()), content{value, T{-77}, T{-77}} {
    kernel.initialise(reinterpret_cast<std::byte*>(content.data()), 1);
  }
  void push(T gradient) {
    kernel.apply(reinterpret_cast<std::byte*>(content.data()), reinterpret_cast<const std::byte*>(&gradient),
                 1);
  }
  T value() const { return content[0]; }

  UpdateKernel kernel;
  std::vector<T> content;
};

template <class T>
void check_round_trip(const Ftrl& parameters) {
  const double floor = parameters.beta / parameters.alpha + parameters.l2;
  for (const double w : {0.0, 1.0, -1.0, 0.001, -1e-6, 12345.678}) {
    Slot<T> slot(parameters, static_cast<T>(w));
    const T before = slot.value();
    // A gradient of 0 does not change z and n, and computes the value from them.
    slot.push(0);
    const double z = std::abs(w) * floor + parameters.l1;
    const double unit = static_cast<double>(std::numeric_limits<T>::epsilon());
    CAPTURE(w, parameters.l1);
    CHECK(std::abs(static_cast<double>(slot.value() - before)) <= 4 * unit * z / floor);
    CHECK(slot.content[2] == 0);
  }
}

}  // namespace

TEST_CASE("The state of a value that was set reproduces the value") {
  for (const Ftrl& parameters : {Ftrl(), Ftrl{.l1 = 2}, Ftrl{.alpha = 3, .beta = 0, .l1 = 0.1, .l2 = 0.7}}) {
    check_round_trip<float>(parameters);
    check_round_trip<double>(parameters);
  }
}

TEST_CASE("A value is exactly 0 as long as its gradients sum up to no more than l1") {
  Slot<float> slot({.alpha = 0.5, .l1 = 1}, 0);
  for (int push = 0; push < 4; ++push) {
    slot.push(0.25F);
    CHECK(slot.value() == 0.0F);
    CHECK(!std::signbit(slot.value()));
  }
  CHECK(slot.content[1] == 1.0F);
  slot.push(0.25F);
  CHECK(slot.value() < 0);
  // Crosses 0 again.
  slot.push(-0.5F);
  CHECK(slot.value() == 0.0F);
}
