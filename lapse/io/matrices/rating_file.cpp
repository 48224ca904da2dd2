#include "lapse/io/matrices/rating_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/matrices/rating_columns.hpp"
#include "lapse/io/matrices/rating_layout.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/table_fields.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

// Also of numbers that are no ids, which are then refused: -1 and 1.5 are no names. 007 is one.
bool is_number(std::string_view field) {
  if (field.starts_with('-')) field.remove_prefix(1);
  const std::size_t digits = std::min(field.find_first_not_of("0123456789"), field.size());
  if (digits == 0 || (digits > 1 && field.front() == '0')) return false;
  field.remove_prefix(digits);
  return field.empty() ||
         (field.front() == '.' && field.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

class RatingParser {
 public:
  RatingParser(const Input& input, RatingIds& ids, const RatingFileOptions& options)
      : reader_(input, options.part), ids_(ids), options_(options) {
    if (!options.columns.empty() && options.columns.size() != 2 && options.columns.size() != 3)
      throw UsageError(fmt::format("{} columns of a rating file, expected user, item and maybe rating",
                                   options.columns.size()));
    if (const auto first = first_line_for_part(input, options.part)) {
      set_layout(first->text, first->offset);
      if (layout_->market) {
        find_size(input);
      } else {
        find_kinds(input);
      }
    }
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
    if (layout_ && layout_->market) require_all_entries(matrix.cells.size());
    if (matrix.cells.empty() && options_.part.is_whole())
      throw FileError(reader_.path(), "contains no ratings, expected lines `user item rating`");
    // A problem of all lines is reported once.
    if (look_ && options_.part.index == 0) {
      if (const std::string warning = look_->warning(); !warning.empty())
        matrix.warnings.push_back(fmt::format("{}: {}", reader_.path(), warning));
    }
    if (options_.part.index == 0 && looks_like_header())
      matrix.warnings.push_back(
          fmt::format("{}: the first line, '{}', is read as a rating, and no other line has "
                      "such names: is it a header? Then name its columns",
                      reader_.path(), shown(first_names_)));
    if (layout_ && layout_->is_guessed_header && options_.part.index == 0)
      matrix.warnings.push_back(
          fmt::format("{}: the first line is taken as a header: {}", reader_.path(), layout_->description()));
    if (layout_) matrix.layout = layout_->description();
    matrix.rows = ids_.users.size();
    matrix.columns = ids_.items.size();
    return matrix;
  }

 private:
  // Whether user and item of the first line are names, and those of all others numbers.
  bool looks_like_header() const { return !first_names_.empty() && other_lines_ > 0 && !has_other_names_; }

  void note_names(std::string_view user, std::string_view item) {
    const bool are_names = !is_number(user) && !is_number(item);
    if (!is_noted_ && are_names) first_names_ = fmt::format("{} {}", user, item);
    if (is_noted_) ++other_lines_;
    if (is_noted_ && are_names) has_other_names_ = true;
    is_noted_ = true;
  }

  void set_layout(std::string_view line, std::uint64_t offset) {
    layout_ = find_layout(reader_, line, offset, options_);
    splitter_.emplace(layout_->separator);
    if (layout_->market) {
      for (RowIds* const each : {&ids_.users, &ids_.items})
        if (each->kind() == IdKind::found)
          each->set_kind(options_.ids == IdKind::found ? IdKind::numbers : options_.ids);
    }
    if (!layout_->is_by_position) return;
    look_.emplace(layout_->columns);
    if (layout_->has_header) look_->add_header(layout_->header);
  }

  // Of a part that may lack the first lines of a Matrix Market file.
  void find_size(const Input& input) {
    LineReader lines(input);
    for (std::string_view line; lines.next(line);) {
      if (trimmed(line).empty() || is_market_comment(line)) continue;
      layout_->market->size = market_size(lines, line);
      layout_->market->size_offset = lines.line_offset();
      return;
    }
  }

  // Whether the line of a Matrix Market file is no entry.
  bool is_above_entries() {
    MarketHeader& market = *layout_->market;
    if (is_market_comment(line_)) return true;
    if (!market.size) {
      market.size = market_size(reader_, line_);
      market.size_offset = reader_.line_offset();
    }
    return reader_.line_offset() == market.size_offset;
  }

  void require_all_entries(std::size_t cells) const {
    if (!options_.part.is_whole()) return;
    const std::optional<MarketSize>& size = layout_->market->size;
    if (!size) throw FileError(reader_.path(), "ends before the line of its sizes");
    if (cells == size->entries) return;
    throw FileError(reader_.path(), fmt::format("has {} entries, expected {}, as the line of its sizes says",
                                                cells, size->entries));
  }

  // Of a part that may lack the first line: what the first rating of the file says about ids.
  void find_kinds(const Input& input) {
    LineReader lines(input);
    bool is_header = layout_->has_header;
    for (std::string_view line; lines.next(line);) {
      if (trimmed(line).empty() || std::exchange(is_header, false)) continue;
      const std::vector<std::string_view>& fields = splitter_->split(line);
      if (fields.size() != layout_->columns) return;
      find_kind(fields[layout_->user], ids_.users);
      find_kind(fields[layout_->item], ids_.items);
      return;
    }
  }

  void find_kind(std::string_view field, RowIds& ids) const {
    if (ids.kind() != IdKind::found) return;
    const IdKind kind = is_number(field) ? IdKind::numbers : IdKind::names;
    ids.set_kind(options_.ids == IdKind::found ? kind : options_.ids);
  }

  void read_cells(std::vector<Cell>& cells) {
    while (reader_.next(line_)) {
      if (trimmed(line_).empty()) continue;
      if (!layout_) set_layout(line_, reader_.line_offset());
      if (layout_->has_header && reader_.line_offset() == layout_->first_offset) continue;
      if (layout_->market && is_above_entries()) continue;
      cells.push_back(parse_line());
    }
  }

  Cell parse_line() {
    const std::vector<std::string_view>& fields = splitter_->split(line_);
    if (splitter_->has_open_quote())
      reader_.fail("a quote that begins a field does not end in the line", line_);
    if (fields.size() != layout_->columns) refuse_columns(fields);
    const std::string_view user = fields[layout_->user];
    if (!is_noted_ || (!first_names_.empty() && !has_other_names_)) note_names(user, fields[layout_->item]);
    const std::string_view item = fields[layout_->item];
    const auto market = layout_->market ? layout_->market->size : std::nullopt;
    if (market) require_inside(user, item);
    const Cell cell{
        parse_row(user, "user", largest(options_.max_user_id, market, &MarketSize::rows), ids_.users),
        parse_row(item, "item", largest(options_.max_item_id, market, &MarketSize::columns), ids_.items),
        layout_->rating ? parse_rating(fields[*layout_->rating]) : 1.0F};
    if (look_ && look_->wants_more()) {
      std::uint64_t number = 0;
      std::from_chars(user.data(), user.data() + user.size(), number);
      look_->add(number, cell);
    }
    return cell;
  }

  static std::uint64_t largest(std::uint64_t limit, const std::optional<MarketSize>& size,
                               std::uint64_t MarketSize::*side) {
    return size ? std::min(limit, *size.*side) : limit;
  }
  // Matrix Market counts from 1.
  void require_inside(std::string_view user, std::string_view item) const {
    for (const std::string_view field : {user, item}) {
      if (field.find_first_not_of('0') == std::string_view::npos)
        reader_.fail(fmt::format("'{}', expected a row or column from 1", shown(field)),
                     field.empty() ? line_ : field);
    }
  }

  RowIds::Index parse_row(std::string_view field, std::string_view what, std::uint64_t limit, RowIds& ids) {
    find_kind(field, ids);
    if (ids.kind() == IdKind::numbers) {
      const bool is_usual =
          field.size() == 1 || (!field.empty() && field.front() >= '1' && field.front() <= '9');
      if (!is_usual && options_.ids == IdKind::found && !field.empty() && !is_number(field))
        reader_.fail(fmt::format("{} id '{}', expected an integer from 0 as before, unless ids are declared "
                                 "to be names",
                                 what, shown(field)),
                     field);
      return ids.add(parse_id(reader_, field, what, limit));
    }
    if (field.empty() || field.find_first_of("\t\r\0", 0, 3) != std::string_view::npos) {
      reader_.fail(fmt::format("{} '{}', expected a name without tabs and zeros", what, shown(field)),
                   field.empty() ? line_ : field);
    }
    return ids.add(field);
  }

  [[noreturn]] void refuse_columns(const std::vector<std::string_view>& fields) const {
    const bool is_first = reader_.line_offset() == layout_->first_offset;
    const std::string separators = is_first && fields.size() == 1
                                       ? "tabs, double colons, semicolons, commas, bars or blanks"
                                       : fmt::format("{}{}", name_of_separators(layout_->separator),
                                                     is_first ? "" : " as in the first line");
    // The position of missing columns, or of the surplus.
    const std::string_view place =
        fields.size() > layout_->columns ? fields[layout_->columns] : line_.substr(line_.size());
    const bool is_in_line = place.data() >= line_.data() && place.data() <= line_.data() + line_.size();
    reader_.fail(wrong_number_of_fields(line_, fields.size(), layout_->columns, "column", separators),
                 is_in_line ? place : line_);
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
    const bool is_valid = result.ptr == end && result.ec == std::errc{} && std::isfinite(value);
    if (!is_valid) reader_.fail(fmt::format("rating '{}', expected a finite number", shown(field)), field);
    return value;
  }

  LineReader reader_;
  RatingIds& ids_;
  RatingFileOptions options_;
  std::optional<RatingLayout> layout_;
  std::optional<TableFields> splitter_;
  std::optional<RatingColumns> look_;  // unless it is known which columns are which
  std::string_view line_;
  // To notice a header that is read as a rating.
  std::string first_names_;  // of the first line; empty: it has numbers
  std::uint64_t other_lines_ = 0;
  bool is_noted_ = false;
  bool has_other_names_ = false;
};

}  // namespace

CoordinateMatrix read_ratings(const Input& input, RatingIds& ids, const RatingFileOptions& options) {
  return RatingParser(input, ids, options).read();
}

}  // namespace lapse::io
