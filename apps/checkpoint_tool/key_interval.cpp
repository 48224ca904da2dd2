#include "apps/checkpoint_tool/key_interval.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace lapse::apps {

std::optional<KeyInterval> key_interval(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc{} || result.ptr != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const std::size_t dash = text.find('-');
  KeyInterval keys;
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  if (first.empty() && last.empty()) return std::nullopt;
  if (!first.empty()) {
    const auto value = number(first);
    if (!value) return std::nullopt;
    keys.first = *value;
  }
  if (!last.empty()) {
    const auto value = number(last);
    if (!value) return std::nullopt;
    keys.last = *value;
  }
  return keys.first <= keys.last ? std::optional(keys) : std::nullopt;
}

}  // namespace lapse::apps
