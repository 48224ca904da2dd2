#include "io/rating_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "io/line_reader.hpp"
#include "lapse/core/error.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kColumnsNeeded = 3;

bool is_blank(char character) {
  return character == ' ' || character == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

enum class Separator : char { tab = '\t', comma = ',', blanks = ' ' };

Separator detect_separator(std::string_view line) {
  if (line.find('\t') != std::string_view::npos) return Separator::tab;
  return line.find(',') != std::string_view::npos ? Separator::comma : Separator::blanks;
}

std::string_view separator_name(Separator separator) {
  if (separator == Separator::tab) return "tabs";
  return separator == Separator::comma ? "commas" : "blanks";
}

// Splits a line into its fields, one by one.
class Fields {
 public:
  Fields(std::string_view line, Separator separator) : rest_(line), separator_(separator) {
    if (separator_ == Separator::blanks) rest_ = trimmed(rest_);
  }

  bool next(std::string_view& field) {
    if (done_) return false;
    const std::size_t end = rest_.find(static_cast<char>(separator_));
    field = trimmed(rest_.substr(0, end));
    done_ = end == std::string_view::npos;
    if (done_) return true;
    rest_.remove_prefix(end + 1);
    if (separator_ == Separator::blanks) rest_ = trimmed(rest_);
    return true;
  }

  std::size_t count_rest() {
    std::size_t count = 0;
    for (std::string_view field; next(field);) ++count;
    return count;
  }

 private:
  std::string_view rest_;
  Separator separator_;
  bool done_ = false;
};

// A field for messages: short, and only what can be printed.
std::string shown(std::string_view field) {
  std::string text(field.substr(0, 40));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text + (field.size() > text.size() ? "..." : "");
}

class RatingParser {
 public:
  RatingParser(const std::string& path, const RatingFileOptions& options)
      : reader_(path), options_(options) {}

  CoordinateMatrix read() {
    CoordinateMatrix matrix;
    bool first = true;
    while (reader_.next(line_)) {
      if (trimmed(line_).empty()) continue;
      if (first) {
        first = false;
        separator_ = detect_separator(line_);
        columns_ = std::max(kColumnsNeeded, Fields(line_, separator_).count_rest());
        if (is_header()) continue;
      }
      const Cell cell = parse_line();
      matrix.rows = std::max<std::uint64_t>(matrix.rows, std::uint64_t{cell.row} + 1);
      matrix.columns = std::max<std::uint64_t>(matrix.columns, std::uint64_t{cell.column} + 1);
      matrix.cells.push_back(cell);
    }
    if (matrix.cells.empty())
      throw FileError(reader_.path(), "contains no ratings, expected lines `user item rating`");
    return matrix;
  }

 private:
  bool is_header() const {
    Fields fields(line_, separator_);
    std::string_view field;
    for (std::size_t column = 0; column < kColumnsNeeded; ++column) {
      if (!fields.next(field)) return false;
      double number = 0;
      const auto result = std::from_chars(field.data(), field.data() + field.size(), number);
      if (result.ec != std::errc::invalid_argument) return false;
    }
    return true;
  }

  Cell parse_line() const {
    Fields splitter(line_, separator_);
    std::array<std::string_view, kColumnsNeeded> fields;
    std::size_t found = 0;
    while (found < fields.size() && splitter.next(fields[found])) ++found;
    found += splitter.count_rest();
    if (found < columns_) {
      fail(line_.substr(line_.size()),
           fmt::format("{} columns, expected {}, separated by {} as in the first line", found, columns_,
                       separator_name(separator_)));
    }
    return {parse_id(fields[0], "user", options_.max_row_id),
            parse_id(fields[1], "item", options_.max_column_id), parse_rating(fields[2])};
  }

  std::uint32_t parse_id(std::string_view field, std::string_view what, std::uint32_t limit) const {
    std::uint64_t id = 0;
    const char* const end = field.data() + field.size();
    const auto result = std::from_chars(field.data(), end, id);
    if (result.ec == std::errc::invalid_argument || result.ptr != end) {
      fail(field, fmt::format("{} id '{}', expected an integer from 0", what, shown(field)));
    }
    if (result.ec != std::errc{} || id > limit) {
      fail(field, fmt::format("{} id '{}' out of range, expected at most {}", what, shown(field), limit));
    }
    return static_cast<std::uint32_t>(id);
  }

  float parse_rating(std::string_view field) const {
    float value = 0;
    const char* const end = field.data() + field.size();
    const auto result = std::from_chars(field.data(), end, value);
    const bool is_number = result.ptr == end && result.ec == std::errc{} && std::isfinite(value);
    if (!is_number) fail(field, fmt::format("rating '{}', expected a finite number", shown(field)));
    return value;
  }

  [[noreturn]] void fail(std::string_view field, const std::string& problem) const {
    const auto column = static_cast<std::uint64_t>(field.data() - line_.data()) + 1;
    throw FileError(reader_.path(), problem, reader_.line_number(), column);
  }

  LineReader reader_;
  RatingFileOptions options_;
  std::string_view line_;
  Separator separator_ = Separator::blanks;
  std::size_t columns_ = kColumnsNeeded;  // that every line must have
};

}  // namespace

CoordinateMatrix read_ratings(const std::string& path, const RatingFileOptions& options) {
  return RatingParser(path, options).read();
}

}  // namespace lapse::io
