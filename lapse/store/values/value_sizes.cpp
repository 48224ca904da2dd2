#include "lapse/store/values/value_sizes.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/core/random.hpp"

namespace lapse {

namespace {
constexpr std::size_t kMaxValueBytes = limits::kValueBytes;

// Value, state and sum of gradients.
bool fits(const ValueLayout& layout, std::size_t length) {
  return layout.content_bytes(length) + layout.sum_bytes(length) <= kMaxValueBytes;
}

// Names the rest of a slot's contents, for messages.
std::string_view company(const ValueLayout& layout) {
  return layout.copies == Copies::gradients
             ? "the state of its update rule and the sum of gradients for copies"
             : "the state of its update rule";
}

}  // namespace

std::size_t ValueSizes::max_elements(ElementType type) {
  return kMaxValueBytes / element_bytes(type);
}

ValueSizes::ValueSizes(const ValueLayout& layout)
    : layout_(layout),
      uniform_(true),
      value_bytes_(layout.value_bytes(layout.length)),
      content_bytes_(layout.content_bytes(layout.length)) {
  if (!fits(layout, layout.length)) {
    throw ConfigurationError(fmt::format("values of {} elements with {} would have {} bytes: at most {}",
                                         layout.length, company(layout),
                                         content_bytes_ + layout.sum_bytes(layout.length), kMaxValueBytes));
  }
}

ValueSizes ValueSizes::computed(const ValueLayout& layout, Function f) {
  ValueSizes sizes(layout);
  sizes.uniform_ = false;
  sizes.value_bytes_ = 0;
  sizes.content_bytes_ = 0;
  sizes.function_ = std::move(f);
  return sizes;
}

ValueSizes ValueSizes::listed(const ValueLayout& layout, std::uint64_t keys, const Function& f) {
  ValueSizes sizes = computed(layout, f);
  sizes.lengths_.reserve(keys);
  for (std::uint64_t key = 0; key < keys; ++key) {
    const std::size_t length = sizes.checked(Key(key));
    sizes.lengths_.push_back(static_cast<std::uint32_t>(length));
    sizes.fingerprint_ = mix_bits(sizes.fingerprint_ + length);
  }
  return sizes;
}

std::size_t ValueSizes::checked(Key key) const {
  const std::size_t length = function_(key);
  if (length == 0 || length > max_elements(layout_.type)) {
    throw ConfigurationError(
        fmt::format("the function of value lengths gives {} elements for key {}: expected 1 to {}", length,
                    key.value(), max_elements(layout_.type)));
  }
  if (!fits(layout_, length)) {
    throw ConfigurationError(fmt::format(
        "the value of key {} with {} elements and {} would have {} bytes: at most {}", key.value(), length,
        company(layout_), layout_.content_bytes(length) + layout_.sum_bytes(length), kMaxValueBytes));
  }
  return length;
}

}  // namespace lapse
