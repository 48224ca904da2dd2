// Which columns of a rating file are read, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/io/matrices/market_header.hpp"
#include "lapse/io/matrices/rating_file.hpp"
#include "lapse/io/text/line_reader.hpp"

namespace lapse::io {

// What a file's first line determines for all lines.
struct RatingLayout {
  std::string separator;
  std::size_t columns = 0;  // required of every line
  bool has_header = false;
  std::uint64_t first_offset = 0;  // of the first line
  // The columns of user, item and rating, from 0; without a third, each rating is 1.
  std::size_t user = 0;
  std::size_t item = 1;
  std::optional<std::size_t> rating = 2;
  std::vector<std::string> header = {};     // the names, if there are some
  bool is_guessed_header = false;           // columns were given by number, and the first line is skipped
  bool is_by_position = false;              // neither options nor a header say which columns are read
  std::optional<MarketHeader> market = {};  // of a Matrix Market file, whose first lines are no ratings

  // "separated by tabs; user: column 1 (userId), ..."
  std::string description() const;
};

// The options decide, then the names in a header, then the order. Throws FileError, at the line in the
// reader, for columns that the line lacks, for names where there is no header, and what market_header throws.
RatingLayout find_layout(const LineReader& reader, std::string_view first_line, std::uint64_t offset,
                         const RatingFileOptions& options);

}  // namespace lapse::io
