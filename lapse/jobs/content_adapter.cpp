#include "lapse/jobs/content_adapter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

namespace {

// Returns true if the value is in the range of To, or is not finite.
template <class To, class From>
bool has_element(From value) {
  if constexpr (std::is_integral_v<From>) {
    return value >= static_cast<From>(std::numeric_limits<To>::min()) &&
           value <= static_cast<From>(std::numeric_limits<To>::max());
  } else {
    // Compares, because a conversion that overflows may raise a signal. From kEnd on, numbers round to
    // infinity.
    static_assert(std::is_same_v<From, double> && std::is_same_v<To, float>);
    constexpr From kEnd = 0x1.ffffffp127;
    return !std::isfinite(value) || std::abs(value) < kEnd;
  }
}

// Converts all elements. Returns the text of the first that cannot be converted; empty if there is none.
template <class From, class To>
std::string convert_elements(std::span<const std::byte> from, std::vector<std::byte>& to) {
  const std::size_t elements = from.size() / sizeof(From);
  to.resize(elements * sizeof(To));
  for (std::size_t i = 0; i < elements; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof value);
    if constexpr (sizeof(To) < sizeof(From))
      if (!has_element<To>(value)) return fmt::format("{}", value);
    const auto converted = static_cast<To>(value);
    std::memcpy(to.data() + i * sizeof(To), &converted, sizeof converted);
  }
  return {};
}

}  // namespace

ContentAdapter::ContentAdapter(const CheckpointTable& table, const TableRecord& given, const TableLoad& load)
    : table_(table), from_(given.element), to_(table.record().element), state_(load.state) {}

std::span<const std::byte> ContentAdapter::content(const ShardBlock& block, std::size_t i,
                                                   const std::string& file) {
  const std::uint64_t key = block.keys()[i];
  const std::size_t length = block.length(i);
  table_.require_fit(key, length, file);
  std::span<const std::byte> content = block.content(i);
  const TableShard& table = table_.handle().state();
  const std::size_t own_bytes = table.content_bytes(Key(key));
  const std::size_t elements = own_bytes / element_bytes(to_);
  if (state_ && content.size() != elements * element_bytes(from_)) {
    throw CheckpointError(
        CheckpointError::Reason::mismatch, file,
        fmt::format("key {} of table '{}' has {} elements of state in the checkpoint, but {} in the server",
                    key, table_.name(), content.size() / element_bytes(from_) - length, elements - length));
  }
  if (state_ && from_ == to_) return content;
  if (!state_) content = content.first(length * element_bytes(from_));
  if (from_ == to_) {
    content_.assign(content.begin(), content.end());
  } else {
    convert(key, content, file);
  }
  if (!state_) {
    content_.resize(own_bytes);
    table.definition().rule.initialise(content_.data(), length);
  }
  return content_;
}

void ContentAdapter::convert(std::uint64_t key, std::span<const std::byte> from, const std::string& file) {
  std::string refused;
  switch (from_) {
    case CheckpointElement::float32:
      refused = convert_elements<float, double>(from, content_);
      break;
    case CheckpointElement::float64:
      refused = convert_elements<double, float>(from, content_);
      break;
    case CheckpointElement::int32:
      refused = convert_elements<std::int32_t, std::int64_t>(from, content_);
      break;
    case CheckpointElement::int64:
      refused = convert_elements<std::int64_t, std::int32_t>(from, content_);
      break;
  }
  if (refused.empty()) return;
  throw CheckpointError(CheckpointError::Reason::mismatch, file,
                        fmt::format("key {} of table '{}' has the element {}, which is no {}", key,
                                    table_.name(), refused, element_name(to_)));
}

}  // namespace lapse
