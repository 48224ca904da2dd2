#include "lapse/core/options/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace lapse {

namespace {

// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known,
                              std::size_t parts) {
  std::pair<std::size_t, std::string_view> nearest(given.size() + 1, "");
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(given, name);
    if (parts * distance < std::max(given.size(), name.size())) nearest = std::min(nearest, {distance, name});
  }
  return nearest.second;
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  const std::string_view name = nearest_name(given, known, 2);
  return name.empty() ? "" : fmt::format(" (did you mean '{}'?)", name);
}

}  // namespace lapse
