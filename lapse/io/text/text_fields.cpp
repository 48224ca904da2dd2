#include "lapse/io/text/text_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "lapse/io/files/file_descriptor.hpp"

namespace lapse::io {

namespace {

bool is_blank(char character) {
  return character == ' ' || character == '\t';
}

}  // namespace

Separator detect_separator(std::string_view line) {
  if (line.find('\t') != std::string_view::npos) return Separator::tab;
  return line.find(',') != std::string_view::npos ? Separator::comma : Separator::blanks;
}

std::string_view separator_name(Separator separator) {
  if (separator == Separator::tab) return "tabs";
  return separator == Separator::comma ? "commas" : "blanks";
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string shown(std::string_view field) {
  std::string text(field.substr(0, 40));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text + (field.size() > text.size() ? "..." : "");
}

std::string wrong_number_of_fields(std::string_view line, std::size_t found, std::size_t expected,
                                   std::string_view noun, std::string_view separators) {
  std::string problem = fmt::format("{} {}{}, expected {}, separated by {}", found, noun,
                                    found == 1 ? "" : "s", expected, separators);
  if (found != 1) return problem;
  problem += ": the line has none";
  for (const auto& [character, name] :
       {std::pair(';', "semicolons"), std::pair(',', "commas"), std::pair('|', "bars")}) {
    if (separators.find(name) == std::string_view::npos && line.find(character) != std::string_view::npos)
      return problem + ", but " + name;
  }
  return problem;
}

bool Fields::next(std::string_view& field) {
  if (done_) return false;
  const std::size_t end = rest_.find(static_cast<char>(separator_));
  field = trimmed(rest_.substr(0, end));
  done_ = end == std::string_view::npos;
  if (done_) return true;
  rest_.remove_prefix(end + 1);
  if (separator_ == Separator::blanks) rest_ = trimmed(rest_);
  return true;
}

std::size_t Fields::count_rest() {
  std::size_t count = 0;
  for (std::string_view field; next(field);) ++count;
  return count;
}

std::uint64_t parse_id(const LineReader& reader, std::string_view field, std::string_view what,
                       std::uint64_t limit) {
  std::uint64_t id = 0;
  const char* const end = field.data() + field.size();
  const auto result = std::from_chars(field.data(), end, id);
  if (result.ec == std::errc::invalid_argument || result.ptr != end) {
    reader.fail(fmt::format("{} id '{}', expected an integer from 0", what, shown(field)), field);
  }
  if (result.ec != std::errc{} || id > limit) {
    reader.fail(fmt::format("{} id '{}' out of range, expected at most {}", what, shown(field), limit),
                field);
  }
  return id;
}

bool is_below_one(std::string_view number) {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, end);
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), end));
  const auto first = static_cast<std::int64_t>(std::min(digits.find_first_of("123456789"), end));
  std::string_view exponent_field = number.substr(std::min(end + 1, number.size()));
  if (exponent_field.starts_with('+')) exponent_field.remove_prefix(1);
  std::int32_t exponent = 0;  // an exponent beyond 32 bits decides alone
  const auto result =
      std::from_chars(exponent_field.data(), exponent_field.data() + exponent_field.size(), exponent);
  if (result.ec == std::errc::result_out_of_range) return exponent_field.starts_with('-');
  return point + exponent <= first;
}

std::optional<FirstLine> first_line_for_part(const Input& input, FilePart part) {
  if (part.is_whole() || is_stream(input.path())) return std::nullopt;
  LineReader reader(input);
  for (std::string_view line; reader.next(line);) {
    if (!trimmed(line).empty()) return FirstLine{std::string(line), reader.line_offset()};
  }
  return std::nullopt;
}

}  // namespace lapse::io
