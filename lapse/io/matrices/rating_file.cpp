#include "lapse/io/matrices/rating_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "lapse/core/file_error.hpp"
#include "lapse/io/matrices/rating_columns.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kColumnsNeeded = 3;

bool is_header(std::string_view line, Separator separator) {
  Fields fields(line, separator);
  std::string_view field;
  for (std::size_t column = 0; column < kColumnsNeeded; ++column) {
    if (!fields.next(field)) return false;
    double number = 0;
    const auto result = std::from_chars(field.data(), field.data() + field.size(), number);
    if (result.ec != std::errc::invalid_argument) return false;
  }
  return true;
}

// Properties that a file's first line determines for all lines.
struct Layout {
  Separator separator;
  std::size_t columns;  // required of every line
  bool has_header;
  std::uint64_t first_offset;  // of the first line
  RatingColumns look;

  Layout(std::string_view first_line, std::uint64_t offset)
      : separator(detect_separator(first_line)),
        columns(std::max(kColumnsNeeded, Fields(first_line, separator).count_rest())),
        has_header(is_header(first_line, separator)),
        first_offset(offset),
        look(columns) {
    if (has_header) look.add_header(first_line, separator);
  }
};

class RatingParser {
 public:
  RatingParser(const Input& input, RatingIds& ids, const RatingFileOptions& options)
      : reader_(input, options.part), ids_(ids), options_(options) {
    if (const auto first = first_line_for_part(input, options.part))
      layout_.emplace(first->text, first->offset);
  }

  CoordinateMatrix read() {
    CoordinateMatrix matrix;
    try {
      read_cells(matrix.cells);
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(fmt::format(
          "{}:{}: no memory for more than {} ratings with {} user ids and {} item ids", reader_.path(),
          reader_.line_number(), matrix.cells.size(), ids_.users.size(), ids_.items.size()));
    }
    if (matrix.cells.empty() && options_.part.is_whole())
      throw FileError(reader_.path(), "contains no ratings, expected lines `user item rating`");
    // A problem of all lines is reported once.
    if (layout_ && options_.part.index == 0) {
      if (const std::string warning = layout_->look.warning(); !warning.empty())
        matrix.warnings.push_back(fmt::format("{}: {}", reader_.path(), warning));
    }
    matrix.rows = ids_.users.size();
    matrix.columns = ids_.items.size();
    return matrix;
  }

 private:
  void read_cells(std::vector<Cell>& cells) {
    while (reader_.next(line_)) {
      if (trimmed(line_).empty()) continue;
      if (!layout_) layout_.emplace(line_, reader_.line_offset());
      if (layout_->has_header && reader_.line_offset() == layout_->first_offset) continue;
      cells.push_back(parse_line());
    }
  }

  Cell parse_line() {
    Fields splitter(line_, layout_->separator);
    std::array<std::string_view, kColumnsNeeded> fields;
    std::size_t found = 0;
    while (found < fields.size() && splitter.next(fields[found])) ++found;
    found += splitter.count_rest();
    if (found != layout_->columns) refuse_columns(found);
    const std::uint64_t user = parse_id(reader_, fields[0], "user", options_.max_user_id);
    const std::uint64_t item = parse_id(reader_, fields[1], "item", options_.max_item_id);
    const float rating = parse_rating(fields[2]);
    const Cell cell{ids_.users.add(user), ids_.items.add(item), rating};
    if (layout_->look.wants_more()) layout_->look.add(user, cell);
    return cell;
  }

  [[noreturn]] void refuse_columns(std::size_t found) const {
    const bool is_first = reader_.line_offset() == layout_->first_offset;
    const std::string separators = is_first && found == 1
                                       ? "tabs, commas or blanks"
                                       : fmt::format("{}{}", separator_name(layout_->separator),
                                                     is_first ? "" : " as in the first line");
    // The position of missing columns, or of the surplus.
    std::string_view place = line_.substr(line_.size());
    Fields fields(line_, layout_->separator);
    for (std::size_t column = 0; found > layout_->columns && column <= layout_->columns; ++column)
      fields.next(place);
    reader_.fail(wrong_number_of_fields(line_, found, layout_->columns, "column", separators), place);
  }

  float parse_rating(std::string_view field) const {
    float value = 0;
    const char* const end = field.data() + field.size();
    const auto result = std::from_chars(field.data(), end, value);
    if (result.ec == std::errc::result_out_of_range && result.ptr == end) {
      if (is_below_one(field)) return 0;
      reader_.fail(fmt::format("rating '{}' is too large for a float, expected a magnitude of at most {:g}",
                               shown(field), std::numeric_limits<float>::max()),
                   field);
    }
    const bool is_number = result.ptr == end && result.ec == std::errc{} && std::isfinite(value);
    if (!is_number) reader_.fail(fmt::format("rating '{}', expected a finite number", shown(field)), field);
    return value;
  }

  LineReader reader_;
  RatingIds& ids_;
  RatingFileOptions options_;
  std::optional<Layout> layout_;
  std::string_view line_;
};

}  // namespace

CoordinateMatrix read_ratings(const Input& input, RatingIds& ids, const RatingFileOptions& options) {
  return RatingParser(input, ids, options).read();
}

}  // namespace lapse::io
