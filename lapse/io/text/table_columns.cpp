#include "lapse/io/text/table_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

// A column's number, from 1; nullopt if the text is a name.
std::optional<std::size_t> column_number(std::string_view text) {
  std::size_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

std::string quoted_names(std::span<const std::string_view> fields) {
  std::string names;
  for (const std::string_view field : fields)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", shown(field));
  return names;
}

}  // namespace

bool has_column_names(const std::vector<std::string>& columns) {
  return std::ranges::any_of(columns, [](const std::string& column) { return !column_number(column); });
}

std::vector<std::size_t> given_columns(const LineReader& reader, std::string_view line,
                                       std::span<const std::string_view> fields,
                                       const std::vector<std::string>& columns) {
  const bool by_name = has_column_names(columns);
  std::vector<std::size_t> positions;
  for (const std::string& column : columns) {
    const std::size_t position =
        by_name ? static_cast<std::size_t>(std::ranges::find(fields, column) - fields.begin())
                : *column_number(column) - 1;
    if (position >= fields.size()) {
      reader.fail(fmt::format("there is no column '{}' in the first line, which has {} columns: {}",
                              shown(column), fields.size(), quoted_names(fields)),
                  line);
    }
    if (by_name && std::ranges::count(fields, column) > 1)
      reader.fail(fmt::format("several columns have the name '{}': {}", shown(column), quoted_names(fields)),
                  line);
    if (std::ranges::find(positions, position) != positions.end())
      reader.fail(fmt::format("the column '{}' is given twice", shown(column)), line);
    positions.push_back(position);
  }
  return positions;
}

}  // namespace lapse::io
