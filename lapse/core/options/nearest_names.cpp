#include "lapse/core/options/nearest_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

std::vector<std::string_view> nearest_names(std::string_view given, std::span<const std::string_view> known,
                                            std::size_t limit) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(given, name);
    if (2 * distance <= std::max(given.size(), name.size())) near.emplace_back(distance, name);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string_view> names;
  for (const auto& [distance, name] : near) {
    if (names.size() == limit) break;
    names.push_back(name);
  }
  return names;
}

bool is_misspelled(std::string_view given, std::span<const std::string_view> known) {
  return std::ranges::any_of(known, [&](std::string_view name) {
    return 3 * edit_distance(given, name) < std::max(given.size(), name.size());
  });
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  const std::vector<std::string_view> names = nearest_names(given, known);
  if (names.empty()) return {};
  return fmt::format(" (did you mean '{}'?)", fmt::join(names, "' or '"));
}

}  // namespace lapse
