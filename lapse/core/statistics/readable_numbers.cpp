#include "lapse/core/statistics/readable_numbers.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace lapse {

namespace {

struct Unit {
  double size;
  std::string_view name;
};

// In the first unit with at most three digits before the decimal point, otherwise in the last.
std::string in_units(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    const double count = value / unit.size;
    if (count >= 999.5 && &unit != &units.back()) continue;
    const int digits = count < 9.995 ? 2 : count < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", count, digits, unit.name);
  }
  return {};
}

}  // namespace

std::string readable_time(double nanoseconds) {
  static constexpr Unit kUnits[] = {{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  return in_units(nanoseconds, kUnits);
}

std::string readable_bytes(std::uint64_t bytes) {
  static constexpr Unit kUnits[] = {{1e3, "KB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}};
  return bytes < 1000 ? fmt::format("{} B", bytes) : in_units(static_cast<double>(bytes), kUnits);
}

}  // namespace lapse
