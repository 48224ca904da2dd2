#include "lapse/store/update_rule.hpp"

#include <limits>
#include <vector>

#include "lapse/store/value_layout.hpp"
#include "test/support/catch.hpp"

using lapse::ElementType;
using lapse::UpdateRule;
using lapse::UpdateRuleKind;
using lapse::ValueLayout;

namespace {

template <class T>
std::vector<T> applied(UpdateRuleKind kind, std::vector<T> value, const std::vector<T>& update) {
  const UpdateRule rule(kind, lapse::element_type<T>());
  rule.apply(reinterpret_cast<std::byte*>(value.data()), reinterpret_cast<const std::byte*>(update.data()),
             value.size());
  return value;
}

template <class T>
void check_type() {
  const std::vector<T> value{T{1}, T{2}, T{-3}, T{0}, T{100}};
  const std::vector<T> update{T{10}, T{-20}, T{3}, T{0}, T{1}};
  CHECK(applied(UpdateRuleKind::add, value, update) == std::vector<T>{T{11}, T{-18}, T{0}, T{0}, T{101}});
  CHECK(applied(UpdateRuleKind::assign, value, update) == update);
  CHECK(UpdateRule(UpdateRuleKind::assign, lapse::element_type<T>()).kind() == UpdateRuleKind::assign);
}

template <class T>
void check_wrap() {
  constexpr T kMost = std::numeric_limits<T>::max();
  constexpr T kLeast = std::numeric_limits<T>::min();
  CHECK(applied<T>(UpdateRuleKind::add, {kMost, kLeast, kLeast}, {T{1}, T{-1}, kLeast}) ==
        std::vector<T>{kLeast, kMost, T{0}});
}

}  // namespace

TEST_CASE("Update rules apply to every element type") {
  check_type<float>();
  check_type<double>();
  check_type<std::int32_t>();
  check_type<std::int64_t>();
}

TEST_CASE("Integers wrap around") {
  check_wrap<std::int32_t>();
  check_wrap<std::int64_t>();
}

TEST_CASE("An update touches the elements it is for and no others") {
  std::vector<std::int32_t> value{1, 2, 3, 4};
  const std::vector<std::int32_t> update{5, 5, 5, 5};
  for (const UpdateRuleKind kind : {UpdateRuleKind::add, UpdateRuleKind::assign}) {
    std::vector<std::int32_t> copy = value;
    UpdateRule(kind, ElementType::int32)
        .apply(reinterpret_cast<std::byte*>(copy.data()), reinterpret_cast<const std::byte*>(update.data()),
               2);
    CHECK(copy[1] != 2);
    CHECK(copy[2] == 3);
    CHECK(copy[3] == 4);
  }
}

TEST_CASE("Update rules have names") {
  CHECK(lapse::update_rule_name(UpdateRuleKind::add) == "add");
  CHECK(lapse::update_rule_name(UpdateRuleKind::assign) == "assign");
}

TEST_CASE("Slots hold their value, padded to 16 bytes") {
  CHECK(ValueLayout{ElementType::float32, 1}.value_bytes() == 4);
  CHECK(ValueLayout{ElementType::float32, 1}.slot_bytes() == 16);
  CHECK(ValueLayout{ElementType::int32, 4}.slot_bytes() == 16);
  CHECK(ValueLayout{ElementType::float32, 5}.slot_bytes() == 32);
  CHECK(ValueLayout{ElementType::float64, 2}.slot_bytes() == 16);
  CHECK(ValueLayout{ElementType::int64, 3}.value_bytes() == 24);
  CHECK(ValueLayout{ElementType::int64, 3}.slot_bytes() == 32);
}

TEST_CASE("Element types agree with the C++ types they stand for") {
  const auto check = [](ElementType type, std::size_t bytes) {
    CHECK(lapse::element_bytes(type) == bytes);
    lapse::visit_element(type, [&](auto element) {
      CHECK(sizeof(element) == bytes);
      CHECK(lapse::element_type<decltype(element)>() == type);
    });
  };
  check(ElementType::float32, 4);
  check(ElementType::float64, 8);
  check(ElementType::int32, 4);
  check(ElementType::int64, 8);
}
