#include "lapse/store/update_rules/kernels.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_kernel_numbers.hpp"

using lapse::Isa;
using lapse::isa_available;
using lapse::kAllIsas;
using lapse::kernels_for;
using lapse::UpdateKernel;
using lapse::UpdateRule;
using lapse::test::kernel_numbers;
using lapse::test::kKernelOffsets;
using lapse::test::kMaxKernelLength;

namespace {

// The product, rounded before any addition.
template <class T>
T product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
  } else {
    volatile T rounded = a * b;
    return rounded;
  }
}
template <class T>
T sum(T a, T b) {
  lapse::add_elements(&a, &b, 1);
  return a;
}

// The documented order of summation, element by element: whole blocks of 128 bytes, with one lane for each
// position; then blocks of half the size are added as the lanes are halved.
template <class T>
T reference_dot(const T* a, const T* b, std::size_t elements) {
  std::vector<T> lanes(128 / sizeof(T));
  std::size_t i = 0;
  const auto add_block = [&] {
    for (T& lane : lanes) {
      lane = sum(lane, product(a[i], b[i]));
      ++i;
    }
  };
  while (elements - i >= lanes.size()) add_block();
  while (lanes.size() > 1) {
    const std::size_t half = lanes.size() / 2;
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] = sum(lanes[lane], lanes[lane + half]);
    lanes.resize(half);
    if (elements - i >= half) add_block();
  }
  return lanes[0];
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void check_arithmetic(Isa isa) {
  const auto& kernels = kernels_for<T>(isa);
  const T factor = static_cast<T>(-2.7);
  for (std::size_t length = 0; length <= kMaxKernelLength; ++length) {
    const std::size_t offset = length % kKernelOffsets;
    const std::size_t count = offset + length + kKernelOffsets;
    const std::vector<T> before = kernel_numbers<T>(2 * length, count);
    const std::vector<T> update = kernel_numbers<T>(2 * length + 1, count);

    std::vector<T> added = before;
    std::vector<T> scaled = before;
    for (std::size_t i = offset; i < offset + length; ++i) {
      added[i] = sum(before[i], update[i]);
      scaled[i] = sum(before[i], product(factor, update[i]));
    }
    CAPTURE(length);
    std::vector<T> value = before;
    kernels.add(value.data() + offset, update.data() + offset, length);
    CHECK(same_bits(value, added));
    value = before;
    kernels.axpy(value.data() + offset, factor, update.data() + offset, length);
    CHECK(same_bits(value, scaled));
    const T dot = kernels.dot(before.data() + offset, update.data() + offset, length);
    const T expected = reference_dot(before.data() + offset, update.data() + offset, length);
    CHECK(std::memcmp(&dot, &expected, sizeof dot) == 0);
  }
}

// Value and state after several pushes.
template <class T>
std::vector<T> pushed(const UpdateRule& rule, Isa isa, std::size_t length, std::size_t offset) {
  const UpdateKernel kernel(rule, lapse::element_type<T>(), isa);
  const std::size_t content = length + rule.state_elements(length);
  std::vector<T> slot = kernel_numbers<T>(length, offset + content + kKernelOffsets);
  std::byte* value = reinterpret_cast<std::byte*>(slot.data() + offset);
  kernel.initialise(value, length);
  for (std::uint64_t push = 0; push < 5; ++push) {
    const std::vector<T> update = kernel_numbers<T>(1000 + push, offset + length);
    kernel.apply(value, reinterpret_cast<const std::byte*>(update.data() + offset), length,
                 push == 3 && kernel.accepts_scale() ? 0.3F : 1.0F);
  }
  return slot;
}

template <class T>
void check_rules_equal(const std::vector<UpdateRule>& rules) {
  for (const UpdateRule& rule : rules) {
    for (std::size_t length = 0; length <= kMaxKernelLength; ++length) {
      const std::size_t offset = length % kKernelOffsets;
      const std::vector<T> portable = pushed<T>(rule, Isa::portable, length, offset);
      // The bytes around the value are unchanged.
      const std::vector<T> before = kernel_numbers<T>(length, portable.size());
      CHECK(
          std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(offset), portable.begin()));
      CHECK(std::equal(before.end() - kKernelOffsets, before.end(), portable.end() - kKernelOffsets));
      for (const Isa isa : kAllIsas) {
        if (!isa_available(isa)) continue;
        CAPTURE(rule.to_string(), length, lapse::isa_name(isa));
        CHECK(same_bits(pushed<T>(rule, isa, length, offset), portable));
      }
    }
  }
}

}  // namespace

TEST_CASE("Kernels give the same bits with every instruction set") {
  for (const Isa isa : kAllIsas) {
    if (!isa_available(isa)) continue;
    CAPTURE(lapse::isa_name(isa));
    check_arithmetic<float>(isa);
    check_arithmetic<double>(isa);
    check_arithmetic<std::int32_t>(isa);
    check_arithmetic<std::int64_t>(isa);
  }
}

TEST_CASE("Update rules give the same bits with every instruction set") {
  const std::vector<UpdateRule> optimisers{
      UpdateRule::sgd({.learning_rate = 0.1, .l2 = 0.01}),
      UpdateRule::adagrad({.learning_rate = 0.1, .l2 = 0.01, .initial_accumulator = 0.1}),
      UpdateRule::rowwise_adagrad({.learning_rate = 0.1, .l2 = 0.01}),
      UpdateRule::adam({.learning_rate = 0.1, .l2 = 0.01}),
      UpdateRule::ftrl({.alpha = 0.5, .beta = 0.5, .l1 = 0.1, .l2 = 0.01}),
  };
  check_rules_equal<float>(optimisers);
  check_rules_equal<double>(optimisers);
  const std::vector<UpdateRule> plain{UpdateRule::add(), UpdateRule::assign()};
  check_rules_equal<float>(plain);
  check_rules_equal<double>(plain);
  check_rules_equal<std::int32_t>(plain);
  check_rules_equal<std::int64_t>(plain);
}

TEST_CASE("The sum of products is accurate") {
  const std::vector<float> a = kernel_numbers<float>(1, 100000);
  const std::vector<float> b = kernel_numbers<float>(2, 100000);
  double exact = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    exact += double{a[i]} * double{b[i]};
    magnitude += std::abs(double{a[i]} * double{b[i]});
  }
  // 32 lanes of 3125 terms, each addition with a relative error of half a rounding unit.
  CHECK(std::abs(double{lapse::dot(a, b)} - exact) < 3200 * 0x1p-24 * magnitude);
}

TEST_CASE("Spans are added and multiplied") {
  const std::vector<double> x{1, 2, 3};
  std::vector<double> y{10, 20, 30};
  lapse::add(y, x);
  CHECK(y == std::vector<double>{11, 22, 33});
  lapse::axpy(-1.0, x, y);
  CHECK(y == std::vector<double>{10, 20, 30});
  CHECK(lapse::dot(x, y) == 140);
  CHECK(lapse::dot(std::vector<std::int32_t>{1 << 20, 3}, std::vector<std::int32_t>{1 << 20, 5}) == 15);
  CHECK(lapse::dot(std::span<const float>(), std::span<const float>()) == 0.0F);

  CHECK_THROWS_AS(lapse::dot(x, std::span(y).first(2)), lapse::UsageError);
  CHECK_THROWS_AS(lapse::add(std::span(y).first(2), x), lapse::UsageError);
  CHECK_THROWS_WITH(lapse::axpy(1.0, x, std::span(y).first(2)), Catch::Contains("3 and 2"));
  CHECK(y == std::vector<double>{10, 20, 30});
}

TEST_CASE("Instruction sets that the processor lacks are refused") {
  CHECK(isa_available(Isa::portable));
  CHECK(isa_available(lapse::best_isa()));
  for (const Isa isa : kAllIsas) {
    if (!isa_available(isa)) CHECK_THROWS_AS(kernels_for<float>(isa), lapse::UsageError);
  }
  CHECK(kernels_for<std::int32_t>(Isa::portable).adam == nullptr);
}
