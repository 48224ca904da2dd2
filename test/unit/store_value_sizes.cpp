#include "lapse/store/values/value_sizes.hpp"

#include <stdexcept>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using lapse::ConfigurationError;
using lapse::ElementType;
using lapse::Key;
using lapse::ValueLayout;
using lapse::ValueSizes;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

// The state has twice as many elements as the value, and three more.
constexpr ValueLayout kLayout{ElementType::float32, 5, {.per_element = 2, .per_value = 3}};

std::size_t key_plus_one(Key key) {
  return key.index() + 1;
}

}  // namespace

TEST_CASE("One length for all keys is the layout's, and a slot is one unit") {
  const ValueSizes sizes(kLayout);
  CHECK(sizes.uniform());
  for (const Key key : {Key(0), Key(7), Key(~std::uint64_t{0})}) {
    CHECK(sizes.length(key) == 5);
    CHECK(sizes.value_bytes(key) == 20);
    CHECK(sizes.content_bytes(key) == (5 + 10 + 3) * 4);
    CHECK(sizes.units(key) == 1);
  }
  CHECK(sizes.unit_bytes() == kLayout.slot_bytes());
  CHECK(sizes.bytes() == 0);
  CHECK(sizes.fingerprint() == 0);
}

TEST_CASE("Listed lengths are asked for once, and slots count in units of 16 bytes") {
  int asked = 0;
  const ValueSizes sizes = ValueSizes::listed(kLayout, 100, [&](Key key) {
    ++asked;
    return key_plus_one(key);
  });
  CHECK_FALSE(sizes.uniform());
  CHECK(sizes.unit_bytes() == 16);
  for (std::uint64_t key = 0; key < 100; ++key) {
    REQUIRE(sizes.length(Key(key)) == key + 1);
    REQUIRE(sizes.value_bytes(Key(key)) == (key + 1) * 4);
    REQUIRE(sizes.content_bytes(Key(key)) == ((key + 1) * 3 + 3) * 4);
    const std::size_t slot = std::size_t{sizes.units(Key(key))} * 16;
    REQUIRE(slot >= sizes.content_bytes(Key(key)));
    REQUIRE(slot < sizes.content_bytes(Key(key)) + 16);
  }
  CHECK(asked == 100);
  CHECK(sizes.bytes() == 400);
}

TEST_CASE("Computed lengths are asked for again and again, for any key") {
  const ValueSizes sizes = ValueSizes::computed(kLayout, [](Key key) { return key.value() % 7 + 1; });
  const Key last(~std::uint64_t{0});
  CHECK_FALSE(sizes.uniform());
  CHECK(sizes.length(last) == last.value() % 7 + 1);
  CHECK(sizes.length(Key(6)) == 7);
  CHECK(sizes.value_bytes(Key(6)) == 28);
  CHECK(sizes.content_bytes(Key(6)) == (7 + 14 + 3) * 4);
  CHECK(sizes.units(Key(6)) == 6);
  CHECK(sizes.bytes() == 0);
  CHECK(sizes.fingerprint() == 0);
}

TEST_CASE("A length of nothing and one that is too large are refused with the key and what is possible") {
  const std::size_t max = ValueSizes::max_elements(ElementType::float32);
  CHECK(max == (std::size_t{1} << 28));
  CHECK(ValueSizes::max_elements(ElementType::int64) == (std::size_t{1} << 27));
  for (const std::size_t bad : {std::size_t{0}, max + 1, ~std::size_t{0}}) {
    const auto f = [&](Key key) { return key == Key(3) ? bad : std::size_t{1}; };
    const std::string listed = thrown_text<ConfigurationError>([&] { ValueSizes::listed(kLayout, 10, f); });
    const std::string computed =
        thrown_text<ConfigurationError>([&] { ValueSizes::computed(kLayout, f).length(Key(3)); });
    for (const std::string& text : {listed, computed}) {
      CHECK(contains(text, "key 3:"));
      CHECK(contains(text, std::to_string(bad) + " elements"));
      CHECK(contains(text, "1 to " + std::to_string(max)));
    }
  }
  const auto largest = [&](Key) { return max; };
  const ValueLayout without_state{ElementType::float32, 1, {}};
  CHECK(ValueSizes::listed(without_state, 2, largest).length(Key(1)) == max);
}

TEST_CASE("What the function of lengths throws passes through") {
  const auto f = [](Key) -> std::size_t { throw std::out_of_range("unknown key"); };
  CHECK_THROWS_AS(ValueSizes::listed(kLayout, 10, f), std::out_of_range);
  CHECK_THROWS_AS(ValueSizes::computed(kLayout, f).length(Key(1)), std::out_of_range);
}

TEST_CASE("Lists of lengths have equal fingerprints only when they are equal") {
  const auto fingerprint = [](std::uint64_t keys, const ValueSizes::Function& f) {
    return ValueSizes::listed(kLayout, keys, f).fingerprint();
  };
  const std::uint64_t one = fingerprint(10, key_plus_one);
  CHECK(one != 0);
  CHECK(one == fingerprint(10, key_plus_one));
  CHECK(one != fingerprint(11, key_plus_one));
  CHECK(one != fingerprint(10, [](Key key) { return 10 - key.index(); }));
  CHECK(one != fingerprint(10, [](Key key) { return key == Key(9) ? 11 : key.index() + 1; }));
}

TEST_CASE("A value and the state of its rule together have a limit") {
  const lapse::ValueLayout layout{lapse::ElementType::float32, 1, {.per_element = 3}};
  const auto f = [](Key key) { return std::size_t{1} << key.value(); };
  const ValueSizes sizes = ValueSizes::computed(layout, f);
  CHECK(sizes.length(Key(26)) == (std::size_t{1} << 26));
  CHECK_THROWS_AS(sizes.length(Key(27)), lapse::ConfigurationError);
}

TEST_CASE("Units are those of whole slots, with what copies need") {
  lapse::ValueLayout layout{lapse::ElementType::float32, 5, {.per_element = 2}, lapse::Copies::gradients};
  const ValueSizes uniform(layout);
  CHECK(uniform.units(Key(0)) == 1);
  CHECK(uniform.content_bytes(Key(0)) == 60);
  CHECK(uniform.unit_bytes() == 96);
  const auto f = [](Key key) { return key.index() + 1; };
  const ValueSizes own = ValueSizes::computed(layout, f);
  CHECK(own.units(Key(0)) == 2);
  CHECK(own.units(Key(4)) == 6);
  layout.copies = lapse::Copies::differences;
  CHECK(ValueSizes::computed(layout, f).units(Key(4)) == 5);
  layout.copies = lapse::Copies::none;
  CHECK(ValueSizes::computed(layout, f).units(Key(4)) == 4);
}

TEST_CASE("A value, its state and the sum of gradients together have a limit") {
  lapse::ValueLayout layout{lapse::ElementType::float32, 1, {.per_element = 2}, lapse::Copies::gradients};
  const auto f = [](Key key) { return std::size_t{1} << key.value(); };
  const ValueSizes sizes = ValueSizes::computed(layout, f);
  CHECK(sizes.length(Key(26)) == (std::size_t{1} << 26));
  CHECK(contains(thrown_text<ConfigurationError>([&] { sizes.length(Key(27)); }), "sum of gradients"));
  layout.length = std::size_t{1} << 26;
  CHECK(ValueSizes(layout).length(Key(0)) == layout.length);
  layout.length += 1;
  CHECK(contains(thrown_text<ConfigurationError>([&] { ValueSizes{layout}; }), "sum of gradients"));
}
