#include "lapse/store/value_layout.hpp"

#include "lapse/store/update_rule.hpp"
#include "test/support/catch.hpp"

using lapse::ElementType;
using lapse::UpdateRule;
using lapse::ValueLayout;

TEST_CASE("Slots hold their value, padded to 16 bytes") {
  CHECK(ValueLayout{ElementType::float32, 1}.value_bytes() == 4);
  CHECK(ValueLayout{ElementType::float32, 1}.content_bytes() == 4);
  CHECK(ValueLayout{ElementType::float32, 1}.slot_bytes() == 16);
  CHECK(ValueLayout{ElementType::int32, 4}.slot_bytes() == 16);
  CHECK(ValueLayout{ElementType::float32, 5}.slot_bytes() == 32);
  CHECK(ValueLayout{ElementType::float64, 2}.slot_bytes() == 16);
  CHECK(ValueLayout{ElementType::int64, 3}.value_bytes() == 24);
  CHECK(ValueLayout{ElementType::int64, 3}.slot_bytes() == 32);
}

TEST_CASE("Slots hold the state of the update rule behind the value") {
  const ValueLayout adam{ElementType::float32, 5, UpdateRule::adam().state_size()};
  CHECK(adam.state_elements() == 11);
  CHECK(adam.value_bytes() == 20);
  CHECK(adam.content_bytes() == 64);
  CHECK(adam.slot_bytes() == 64);
  CHECK(adam.state_elements(1) == 3);
  CHECK(adam.value_bytes(1) == 4);
  CHECK(adam.content_bytes(1) == 16);
  CHECK(adam.slot_bytes(2) == 32);

  const ValueLayout rowwise{ElementType::float64, 4, UpdateRule::rowwise_adagrad().state_size()};
  CHECK(rowwise.content_bytes() == 40);
  CHECK(rowwise.slot_bytes() == 48);
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
