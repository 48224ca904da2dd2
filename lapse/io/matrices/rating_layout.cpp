#include "lapse/io/matrices/rating_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "lapse/core/error.hpp"
#include "lapse/io/matrices/rating_columns.hpp"
#include "lapse/io/text/table_columns.hpp"
#include "lapse/io/text/table_fields.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kDefaultColumns = 3;

using FieldsOfLine = std::span<const std::string_view>;

bool begins_with_number(std::string_view field) {
  double number = 0;
  const bool is_word = !field.empty() && ((field.front() | 0x20) == 'i' || (field.front() | 0x20) == 'n');
  return !is_word &&  // "info" begins with infinity, for the parser
         std::from_chars(field.data(), field.data() + field.size(), number).ec != std::errc::invalid_argument;
}

// Whether the first line has names: none of the fields that are read begins with a number, and one of them is
// the rating, or all are common names.
bool is_header(FieldsOfLine fields, const RatingLayout& layout) {
  if (begins_with_number(fields[layout.user]) || begins_with_number(fields[layout.item])) return false;
  if (layout.rating) return !fields[*layout.rating].empty() && !begins_with_number(fields[*layout.rating]);
  return is_user_name(fields[layout.user]) && is_item_name(fields[layout.item]);
}

std::string column_text(const RatingLayout& layout, std::size_t column) {
  std::string text = fmt::format("column {}", column + 1);
  if (!layout.header.empty()) text += fmt::format(" ({})", shown(layout.header[column]));
  return text;
}

}  // namespace

std::string RatingLayout::description() const {
  if (market) {
    const MarketSize size = market->size.value_or(MarketSize{});
    return fmt::format("Matrix Market, {}, {} x {}, {} entries; user: row, item: column, rating: {}",
                       market->field, size.rows, size.columns, size.entries,
                       market->has_values() ? "value" : "1 for each entry");
  }
  return fmt::format("separated by {}; user: {}, item: {}, rating: {}; {} columns{}",
                     name_of_separators(separator), column_text(*this, user), column_text(*this, item),
                     rating ? column_text(*this, *rating) : "1 for each line", columns,
                     has_header ? ", the first line names them" : "");
}

RatingLayout find_layout(const LineReader& reader, std::string_view first_line, std::uint64_t offset,
                         const RatingFileOptions& options) {
  if (is_market_file(first_line)) {
    if (!options.columns.empty() || !options.separator.empty())
      reader.fail("a Matrix Market file has fixed columns, between blanks, but others were given",
                  first_line);
    RatingLayout layout{
        .separator = " ", .first_offset = offset, .market = market_header(reader, first_line)};
    layout.columns = layout.market->has_values() ? 3 : 2;
    if (!layout.market->has_values()) layout.rating.reset();
    return layout;
  }
  RatingLayout layout{.separator = options.separator.empty() ? find_separator(first_line) : options.separator,
                      .first_offset = offset};
  TableFields splitter(layout.separator);
  const std::vector<std::string_view>& fields = splitter.split(first_line);
  layout.columns = fields.size();
  if (!options.columns.empty()) {
    const std::vector<std::size_t> given = given_columns(reader, first_line, fields, options.columns);
    layout.user = given[0];
    layout.item = given[1];
    layout.rating = given.size() > 2 ? std::optional(given[2]) : std::nullopt;
    layout.is_guessed_header = !has_column_names(options.columns) && is_header(fields, layout);
    layout.has_header = has_column_names(options.columns) || layout.is_guessed_header;
  } else if (const auto named = columns_by_name(fields)) {
    layout.user = named->user;
    layout.item = named->item;
    layout.rating = named->rating;
    layout.has_header = true;
  } else {
    layout.columns = std::max(kDefaultColumns, fields.size());
    layout.is_by_position = true;
    layout.has_header = fields.size() >= kDefaultColumns && is_header(fields, layout);
  }
  if (layout.has_header) layout.header.assign(fields.begin(), fields.end());
  return layout;
}

}  // namespace lapse::io
