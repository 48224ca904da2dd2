#include "lapse/consistency/consistency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

constexpr std::string_view kDecay = "/sqrt(t)";
constexpr std::string_view kStrong = "strong";

// Returns the arguments in "name(arguments)"; nullopt if the text is not of this form.
std::optional<std::string_view> arguments_of(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(name.size(), text.size() - name.size() - 1);
  if (!text.starts_with('(')) return std::nullopt;
  return text.substr(1);
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "0.5" or "0.5/sqrt(t)".
std::optional<ValueBound> value_bound_in(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const bool decays = text.ends_with(kDecay);
  if (decays) text.remove_suffix(kDecay.size());
  const auto bound = number_in<double>(text);
  return bound ? std::optional(ValueBound{*bound, decays}) : std::nullopt;
}

// The same, and ", strong" behind it.
std::optional<ValueBound> strong_or_weak_in(std::string_view text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  std::optional<ValueBound> bound = value_bound_in(text.substr(0, comma));
  if (comma == text.size()) return bound;
  text.remove_prefix(comma + 1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text != kStrong) return std::nullopt;
  if (bound) bound->strong = true;
  return bound;
}

std::string to_text(const ValueBound& bound) {
  return fmt::format("{}{}{}{}", bound.bound, bound.decays ? kDecay : "", bound.strong ? ", " : "",
                     bound.strong ? kStrong : "");
}

const ValueBound& checked(const ValueBound& bound) {
  if (std::isfinite(bound.bound) && bound.bound > 0) return bound;
  throw ConfigurationError(
      fmt::format("the bound of values is {}: expected a finite number above 0", bound.bound));
}

}  // namespace

Consistency Consistency::vap(const ValueBound& bound) {
  return Consistency(Kind::vap, 0, checked(bound));
}

Consistency Consistency::cvap(std::uint32_t staleness, const ValueBound& bound) {
  return Consistency(Kind::cvap, staleness, checked(bound));
}

Consistency Consistency::parse(std::string_view text) {
  if (text == "sequential") return sequential;
  if (text == "eventual" || text == "asp") return eventual;
  if (text == "bsp") return bsp;
  if (const auto arguments = arguments_of(text, "cap"))
    if (const auto staleness = number_in<std::uint32_t>(*arguments)) return cap(*staleness);
  if (const auto arguments = arguments_of(text, "ssp"))
    if (const auto staleness = number_in<std::uint32_t>(*arguments)) return ssp(*staleness);
  if (const auto arguments = arguments_of(text, "essp"))
    if (const auto staleness = number_in<std::uint32_t>(*arguments)) return essp(*staleness);
  if (const auto arguments = arguments_of(text, "vap"))
    if (const auto bound = strong_or_weak_in(*arguments)) return vap(*bound);
  if (const auto arguments = arguments_of(text, "cvap")) {
    const std::size_t comma = std::min(arguments->find(','), arguments->size());
    const auto staleness = number_in<std::uint32_t>(arguments->substr(0, comma));
    const auto bound = strong_or_weak_in(arguments->substr(std::min(comma + 1, arguments->size())));
    if (staleness && bound) return cvap(*staleness, *bound);
  }
  throw ConfigurationError(fmt::format(
      "'{}' is no consistency policy: expected sequential, eventual, asp, bsp, cap(s), ssp(s), essp(s), "
      "vap(v) or cvap(s, v), where s is a number of clocks, 0 to {}, and v a number such as 0.5, "
      "or 0.5/sqrt(t), which falls with the clock; vap(v, strong) and cvap(s, v, strong): for all workers "
      "together",
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
    case Kind::cap:
      return fmt::format("cap({})", staleness_);
    case Kind::ssp:
      return fmt::format("ssp({})", staleness_);
    case Kind::essp:
      return fmt::format("essp({})", staleness_);
    case Kind::vap:
      return fmt::format("vap({})", to_text(value_bound_));
    default:
      return fmt::format("cvap({}, {})", staleness_, to_text(value_bound_));
  }
}

}  // namespace lapse
