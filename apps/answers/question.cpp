#include "apps/answers/question.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lapse::apps {

void require_fields(std::span<const std::string_view> query, std::string_view expected) {
  const auto blanks = static_cast<std::size_t>(std::ranges::count(expected, ' '));
  if (query.size() == blanks + 1) return;
  throw QueryError(fmt::format("{} {}, expected {}: {}", query.size(), query.size() == 1 ? "field" : "fields",
                               blanks + 1, expected));
}

}  // namespace lapse::apps
