// The first lines of a Matrix Market file: Boisvert, Pozo and Remington, "The Matrix Market Exchange
// Formats", NISTIR 5935, 1996.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/io/text/line_reader.hpp"

namespace lapse::io {

struct MarketSize {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;
};

// Of a sparse matrix: a line for each entry, `row column value`, or without a value.
struct MarketHeader {
  std::string field;  // real, integer or pattern
  // Of the line of sizes, the first that is no comment; nullopt until it is read.
  std::optional<MarketSize> size = {};
  std::uint64_t size_offset = 0;

  bool has_values() const { return field != "pattern"; }
};

// Whether a file with this first line is a Matrix Market file.
bool is_market_file(std::string_view first_line);
inline bool is_market_comment(std::string_view line) {
  return line.starts_with('%');
}
// The header that its first line begins. Throws FileError, at the line in the reader, for dense, complex and
// symmetric matrices.
MarketHeader market_header(const LineReader& reader, std::string_view first_line);
// Throws FileError, at the line in the reader, unless it has three numbers.
MarketSize market_size(const LineReader& reader, std::string_view line);

}  // namespace lapse::io
