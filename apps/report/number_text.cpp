#include "apps/report/number_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lapse::apps {

namespace {

constexpr double kMaxGrouped = 1e15;  // integers up to here have all their digits
constexpr double kMinFixed = 1e-4;
constexpr double kMinRounded = 1e4;  // five digits before the point

std::string grouped(double integer) {
  std::string text = fmt::format("{:.0f}", integer);
  const std::size_t start = text.starts_with('-') ? 1 : 0;
  if (text.size() - start < 5) return text;
  for (std::size_t at = text.size(); at > start + 3;) text.insert(at -= 3, "\u00a0");
  return text;
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  if (size >= kMaxGrouped) return fmt::format("{:.4g}", value);
  if (value == std::trunc(value)) return grouped(value);
  if (size >= kMinRounded) return grouped(std::round(value));
  return size < kMinFixed ? fmt::format("{:.3e}", value) : fmt::format("{:.5g}", value);
}

std::string fixed_text(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  return is_zero && text.starts_with('-') ? text.substr(1) : text;
}

}  // namespace lapse::apps
