#include "lapse/store/values/initialiser.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using lapse::ConfigurationError;
using lapse::ElementType;
using lapse::Initialiser;
using lapse::Key;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

template <class T>
std::vector<T> filled(const Initialiser& initialiser, std::uint64_t seed, Key key, std::size_t length) {
  std::vector<T> value(length, T{77});
  initialiser.fill(seed, key, lapse::element_type<T>(), length, reinterpret_cast<std::byte*>(value.data()));
  return value;
}

}  // namespace

TEST_CASE("Zero and constant fill every element") {
  CHECK(filled<float>(Initialiser(), 1, Key(3), 3) == std::vector<float>(3, 0.0F));
  CHECK(filled<double>(Initialiser::zero(), 1, Key(3), 2) == std::vector<double>(2, 0.0));
  CHECK(filled<double>(Initialiser::constant(2.5), 1, Key(3), 2) == std::vector<double>(2, 2.5));
  CHECK(filled<std::int32_t>(Initialiser::constant(2.5), 1, Key(3), 2) == std::vector<std::int32_t>(2, 2));
  CHECK(filled<std::int64_t>(Initialiser::constant(-7), 1, Key(3), 2) == std::vector<std::int64_t>(2, -7));
}

TEST_CASE("Random values depend on seed and key alone") {
  for (const Initialiser& initialiser : {Initialiser::uniform(-1, 1), Initialiser::normal(0, 1)}) {
    const auto value = filled<double>(initialiser, 5, Key(1), 4);
    CHECK(value == filled<double>(initialiser, 5, Key(1), 4));
    CHECK(value != filled<double>(initialiser, 6, Key(1), 4));
    CHECK(value != filled<double>(initialiser, 5, Key(2), 4));
    CHECK(value[0] != value[1]);
    // A longer value begins with the shorter one.
    const auto longer = filled<double>(initialiser, 5, Key(1), 9);
    CHECK(std::equal(value.begin(), value.end(), longer.begin()));
  }
}

TEST_CASE("Uniform values keep to their bounds and fill them evenly") {
  constexpr double kLow = -0.5;
  constexpr double kHigh = 1.5;
  constexpr int kKeys = 5000;
  double sum = 0;
  for (int key = 0; key < kKeys; ++key) {
    for (const double value :
         filled<double>(Initialiser::uniform(kLow, kHigh), 11, Key(static_cast<std::uint64_t>(key)), 4)) {
      REQUIRE(value >= kLow);
      REQUIRE(value < kHigh);
      sum += value;
    }
  }
  // Standard error: 2 / sqrt(12 * 20000) = 0.004.
  CHECK(std::abs(sum / (4 * kKeys) - (kLow + kHigh) / 2) < 0.02);
}

TEST_CASE("Normal values have mean and standard deviation") {
  constexpr int kKeys = 5000;
  double sum = 0;
  double squares = 0;
  for (int key = 0; key < kKeys; ++key) {
    for (const double value :
         filled<double>(Initialiser::normal(3, 0.5), 11, Key(static_cast<std::uint64_t>(key)), 4)) {
      sum += value;
      squares += (value - 3) * (value - 3);
    }
  }
  CHECK(std::abs(sum / (4 * kKeys) - 3) < 0.02);
  CHECK(std::abs(std::sqrt(squares / (4 * kKeys)) - 0.5) < 0.02);
}

TEST_CASE("Random values of integer tables are rounded towards zero") {
  for (std::uint64_t key = 0; key < 200; ++key) {
    const std::int32_t value = filled<std::int32_t>(Initialiser::uniform(-0.9, 0.9), 1, Key(key), 1)[0];
    REQUIRE(value == 0);
    const double exact = filled<double>(Initialiser::uniform(-10, 10), 1, Key(key), 1)[0];
    REQUIRE(filled<std::int64_t>(Initialiser::uniform(-10, 10), 1, Key(key), 1)[0] ==
            static_cast<std::int64_t>(std::trunc(exact)));
  }
}

TEST_CASE("A function of the user sees key and value") {
  const Initialiser initialiser =
      Initialiser::function<std::int64_t>([](Key key, std::span<std::int64_t> value) {
        for (std::size_t i = 0; i < value.size(); ++i) {
          value[i] = static_cast<std::int64_t>(100 * key.value() + i);
        }
      });
  CHECK(filled<std::int64_t>(initialiser, 0, Key(4), 3) == std::vector<std::int64_t>{400, 401, 402});
  CHECK_NOTHROW(initialiser.check(ElementType::int64));
  CHECK_THROWS_AS(initialiser.check(ElementType::int32), ConfigurationError);
  const std::string text = thrown_text<ConfigurationError>([&] { initialiser.check(ElementType::float32); });
  CHECK(contains(text, "int64"));
  CHECK(contains(text, "float"));
}

TEST_CASE("Impossible parameters are refused") {
  const double infinite = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(Initialiser::uniform(1, 0.5).check(ElementType::float32), ConfigurationError);
  CHECK_NOTHROW(Initialiser::uniform(1, 1).check(ElementType::float32));
  CHECK_THROWS_AS(Initialiser::normal(0, -1).check(ElementType::float32), ConfigurationError);
  CHECK_NOTHROW(Initialiser::normal(0, 0).check(ElementType::float32));
  CHECK_THROWS_AS(Initialiser::constant(infinite).check(ElementType::float64), ConfigurationError);
  CHECK_THROWS_AS(Initialiser::uniform(nan, 1).check(ElementType::float64), ConfigurationError);
  CHECK_THROWS_AS(Initialiser::normal(0, nan).check(ElementType::float64), ConfigurationError);
}

TEST_CASE("Initialisers that differ have different texts") {
  CHECK(Initialiser().to_string() == "zero");
  CHECK(Initialiser::constant(0.1).to_string() == "constant(0.1)");
  CHECK(Initialiser::uniform(-1, 2).to_string() == "uniform(-1, 2)");
  CHECK(Initialiser::normal(0, 1).to_string() == "normal(0, 1)");
  CHECK(Initialiser::constant(0.1).to_string() !=
        Initialiser::constant(std::nextafter(0.1, 1.0)).to_string());
}
