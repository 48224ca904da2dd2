#include "io/rating_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

#include "io/line_reader.hpp"
#include "io/text_fields.hpp"
#include "lapse/core/file_error.hpp"

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

// What the first line of a file decides for all lines.
struct Layout {
  Separator separator;
  std::size_t columns;  // that every line must have
  bool has_header;
  std::uint64_t first_offset;  // of the first line

  Layout(std::string_view first_line, std::uint64_t offset)
      : separator(detect_separator(first_line)),
        columns(std::max(kColumnsNeeded, Fields(first_line, separator).count_rest())),
        has_header(is_header(first_line, separator)),
        first_offset(offset) {}
};

class RatingParser {
 public:
  RatingParser(const Input& input, const RatingFileOptions& options)
      : reader_(input, options.part), options_(options) {
    if (const auto first = first_line_for_part(input, options.part))
      layout_.emplace(first->text, first->offset);
  }

  CoordinateMatrix read() {
    CoordinateMatrix matrix;
    while (reader_.next(line_)) {
      if (trimmed(line_).empty()) continue;
      if (!layout_) layout_.emplace(line_, reader_.line_offset());
      if (layout_->has_header && reader_.line_offset() == layout_->first_offset) continue;
      const Cell cell = parse_line();
      matrix.rows = std::max<std::uint64_t>(matrix.rows, std::uint64_t{cell.row} + 1);
      matrix.columns = std::max<std::uint64_t>(matrix.columns, std::uint64_t{cell.column} + 1);
      matrix.cells.push_back(cell);
    }
    if (matrix.cells.empty() && options_.part.is_whole())
      throw FileError(reader_.path(), "contains no ratings, expected lines `user item rating`");
    return matrix;
  }

 private:
  Cell parse_line() const {
    Fields splitter(line_, layout_->separator);
    std::array<std::string_view, kColumnsNeeded> fields;
    std::size_t found = 0;
    while (found < fields.size() && splitter.next(fields[found])) ++found;
    found += splitter.count_rest();
    if (found < layout_->columns) {
      reader_.fail(fmt::format("{} columns, expected {}, separated by {} as in the first line", found,
                               layout_->columns, separator_name(layout_->separator)),
                   line_.substr(line_.size()));
    }
    return {parse_id(reader_, fields[0], "user", options_.max_row_id),
            parse_id(reader_, fields[1], "item", options_.max_column_id), parse_rating(fields[2])};
  }

  float parse_rating(std::string_view field) const {
    float value = 0;
    const char* const end = field.data() + field.size();
    const auto result = std::from_chars(field.data(), end, value);
    const bool is_number = result.ptr == end && result.ec == std::errc{} && std::isfinite(value);
    if (!is_number) reader_.fail(fmt::format("rating '{}', expected a finite number", shown(field)), field);
    return value;
  }

  LineReader reader_;
  RatingFileOptions options_;
  std::optional<Layout> layout_;
  std::string_view line_;
};

}  // namespace

CoordinateMatrix read_ratings(const Input& input, const RatingFileOptions& options) {
  return RatingParser(input, options).read();
}

}  // namespace lapse::io
