// Rating files: one rating a line, `user item rating`, as used for MovieLens, MovieTweetings and the Netflix
// prize.
#pragma once

#include <cstdint>
#include <limits>

#include "lapse/core/export.hpp"
#include "lapse/io/files/file_part.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"
#include "lapse/io/vocabulary/id_index.hpp"

namespace lapse::io {

// The ids that have occurred: users are rows, items are columns.
struct RatingIds {
  IdIndex users;
  IdIndex items;
};

struct RatingFileOptions {
  // Ids above these are taken for damaged input.
  std::uint64_t max_user_id = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_item_id = std::numeric_limits<std::uint64_t>::max();
  // Of the file. The ratings of all parts together are those of the file; a part without ratings is no error.
  FilePart part{};
};

// Reads a rating file, plain or compressed, or standard input (the name "-"). Columns: user (the row), item
// (the column), rating; further columns are ignored. They are separated by tabs, commas or runs of blanks,
// as the first line decides (a tab before a comma before blanks). Blanks around a field are ignored, and
// so are blank lines. The first line is a header, and skipped, when none of its first three fields is a
// number.
//
// User and item ids are integers from 0 to 2^64 - 1; rows and columns are their indices in `ids`, to which
// new ids are added, so that files that are read with one RatingIds have the same rows and columns. The
// matrix has as many rows and columns as there are ids after reading. Ratings are rounded to the nearest
// float. Cells come in the order of the file; a cell that occurs twice is kept twice. Its warnings say where
// the columns look like others: a header with other names, a first column that counts the lines, more
// different ratings than items. Of several parts, the first has them.
//
// Throws FileError with line and column (of the line's byte) for: fewer or more fields than the first line
// has (so that a file cut off in its last line is noticed, and a comma for a decimal point), an id that is no
// integer, negative or above its limit, a rating that is no number, not finite or too large for a float, an
// unknown separator, a file without ratings, and whatever LineReader reports. Throws OutOfMemory, with the
// line.
LAPSE_EXPORT CoordinateMatrix read_ratings(const Input& input, RatingIds& ids,
                                           const RatingFileOptions& options = {});

}  // namespace lapse::io
