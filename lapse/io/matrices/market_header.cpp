#include "lapse/io/matrices/market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <system_error>
#include <vector>

#include "lapse/io/text/table_fields.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

constexpr std::string_view kBanner = "%%MatrixMarket";

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
  });
  return lower;
}

// The field, if it is one of these words.
std::string require_word(const LineReader& reader, std::string_view field,
                         std::span<const std::string_view> expected) {
  std::string word = in_lower_case(field);
  if (std::ranges::find(expected, word) == expected.end())
    reader.fail(fmt::format("'{}', expected {}", shown(field), fmt::join(expected, " or ")), field);
  return word;
}

}  // namespace

bool is_market_file(std::string_view first_line) {
  return in_lower_case(first_line.substr(0, kBanner.size())) == in_lower_case(kBanner);
}

MarketHeader market_header(const LineReader& reader, std::string_view first_line) {
  constexpr std::array<std::string_view, 1> kObjects{"matrix"};
  constexpr std::array<std::string_view, 1> kFormats{"coordinate"};
  constexpr std::array<std::string_view, 3> kFields{"real", "integer", "pattern"};
  constexpr std::array<std::string_view, 1> kSymmetries{"general"};
  TableFields splitter(" ");
  const std::vector<std::string_view>& fields = splitter.split(first_line);
  if (fields.size() != 5) {
    reader.fail(fmt::format("{} words, expected `{} matrix coordinate real general`", fields.size(), kBanner),
                first_line);
  }
  require_word(reader, fields[1], kObjects);
  require_word(reader, fields[2], kFormats);
  MarketHeader header{.field = require_word(reader, fields[3], kFields)};
  require_word(reader, fields[4], kSymmetries);
  return header;
}

MarketSize market_size(const LineReader& reader, std::string_view line) {
  TableFields splitter(" ");
  const std::vector<std::string_view>& fields = splitter.split(line);
  if (fields.size() != 3)
    reader.fail(fmt::format("{} numbers, expected those of rows, columns and entries", fields.size()), line);
  const auto number = [&](std::string_view field) {
    std::uint64_t value = 0;
    const char* const end = field.data() + field.size();
    if (const auto result = std::from_chars(field.data(), end, value);
        result.ec != std::errc() || result.ptr != end)
      reader.fail(fmt::format("'{}', expected a number of rows, columns or entries", shown(field)), field);
    return value;
  };
  return {number(fields[0]), number(fields[1]), number(fields[2])};
}

}  // namespace lapse::io
