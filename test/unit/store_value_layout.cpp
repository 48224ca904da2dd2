#include "lapse/store/values/value_layout.hpp"

#include <array>
#include <cstring>
#include <span>

#include "lapse/store/slot_head.hpp"
#include "lapse/store/update_rules/update_rule.hpp"
#include "test/support/catch.hpp"

using lapse::Copies;
using lapse::ElementType;
using lapse::SlotHead;
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

TEST_CASE("Slots of tables that can have copies have a head before the value") {
  const ValueLayout none{ElementType::float32, 4};
  CHECK(none.head_bytes() == 0);
  const ValueLayout differences{ElementType::float32, 4, {}, Copies::differences};
  CHECK(differences.head_bytes() == 16);
  CHECK(differences.content_bytes() == 16);
  CHECK(differences.slot_bytes() == 32);
  CHECK(differences.slot_bytes(5) == 48);
  CHECK(differences.sum_bytes(4) == 0);
}

TEST_CASE("Slots whose copies merge by gradients have room for their sum behind value and state") {
  const ValueLayout adam{ElementType::float32, 5, UpdateRule::adam().state_size(), Copies::gradients};
  CHECK(adam.head_bytes() == 16);
  CHECK(adam.content_bytes() == 64);
  CHECK(adam.sum_offset(5) == 64);
  CHECK(adam.sum_bytes(5) == 20);
  CHECK(adam.slot_bytes() == 112);
  CHECK(adam.sum_offset(1) == 16);
  CHECK(adam.slot_bytes(1) == 48);
  const ValueLayout ftrl{ElementType::float64, 3, UpdateRule::ftrl().state_size(), Copies::gradients};
  CHECK(ftrl.sum_offset(3) == 72);
  CHECK(ftrl.slot_bytes() == 112);
}

TEST_CASE("The head of a slot is found from the value, at any length") {
  alignas(16) std::array<std::byte, 48> slot{};
  std::byte* const content = slot.data() + ValueLayout::kHeadBytes;
  SlotHead::clear(content);
  CHECK(SlotHead::version_of(content) == 0);
  CHECK(SlotHead::of(content).record == SlotHead::kNoRecord);
  CHECK(SlotHead::of(content).pushes == 0);
  SlotHead::set_version(content, 0x100000000);
  SlotHead::raise_version(content);
  SlotHead::of(content).record = 7;
  SlotHead::of(content).pushes = 9;
  CHECK(SlotHead::version_of(content) == 0x100000001);
  std::uint32_t words[4];
  std::memcpy(words, slot.data(), sizeof words);
  CHECK(words[2] == 7);
  CHECK(words[3] == 9);
  for (const std::byte byte : std::span(slot).subspan(16)) CHECK(byte == std::byte{0});
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
