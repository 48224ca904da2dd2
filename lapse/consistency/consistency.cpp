#include "lapse/consistency/consistency.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

// The number in "cap(3)"; nullopt if the text is not of this form.
std::optional<std::uint32_t> staleness_in(std::string_view text) {
  constexpr std::string_view kBegin = "cap(";
  if (!text.starts_with(kBegin) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(kBegin.size(), text.size() - kBegin.size() - 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Consistency Consistency::parse(std::string_view text) {
  if (text == "sequential") return sequential;
  if (text == "eventual" || text == "asp") return eventual;
  if (text == "bsp") return bsp;
  if (const auto staleness = staleness_in(text)) return cap(*staleness);
  throw ConfigurationError(
      fmt::format("'{}' is no consistency policy: expected sequential, eventual, asp, bsp or cap(s), where "
                  "s is a number of clocks, 0 to {}",
                  text, UINT32_MAX));
}

std::string Consistency::to_string() const {
  switch (kind_) {
    case Kind::sequential:
      return "sequential";
    case Kind::eventual:
      return "eventual";
    case Kind::bsp:
      return "bsp";
    default:
      return fmt::format("cap({})", staleness_);
  }
}

}  // namespace lapse
