// What a push does to a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lapse/store/element_type.hpp"

namespace lapse {

enum class UpdateRuleKind : std::uint8_t {
  add,     // value += update; pushes commute
  assign,  // value = update; the last push wins
};

std::string_view update_rule_name(UpdateRuleKind kind);

// The rule of one table, without knowledge of types at the place where it is applied. Immutable.
class UpdateRule {
 public:
  UpdateRule(UpdateRuleKind kind, ElementType type);

  UpdateRuleKind kind() const { return kind_; }
  // Changes `elements` elements at `value` in place. The caller has the key's latch, or is alone with the
  // value.
  void apply(std::byte* value, const std::byte* update, std::size_t elements) const {
    apply_(value, update, elements);
  }

 private:
  using Apply = void (*)(std::byte*, const std::byte*, std::size_t);
  UpdateRuleKind kind_;
  Apply apply_;
};

// value[i] += update[i]; integers wrap around.
template <Element T>
inline void add_elements(T* value, const T* update, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      value[i] = static_cast<T>(static_cast<Unsigned>(value[i]) + static_cast<Unsigned>(update[i]));
    } else {
      value[i] += update[i];
    }
  }
}

}  // namespace lapse
