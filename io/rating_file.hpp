// Rating files: one rating a line, `user item rating`, as used for MovieLens, MovieTweetings and the Netflix
// prize.
#pragma once

#include <cstdint>

#include "io/coordinate_matrix.hpp"
#include "io/file_part.hpp"
#include "io/input.hpp"

namespace lapse::io {

struct RatingFileOptions {
  // Ids above these are taken for damaged input: a matrix has max id + 1 rows, however few of them occur.
  std::uint32_t max_row_id = 2147483647;
  std::uint32_t max_column_id = 2147483647;
  // Of the file. The ratings of all parts together are those of the file; rows and columns are those that the
  // part's own ratings need, and a part without ratings is no error.
  FilePart part{};
};

// Reads a rating file, plain or compressed, or standard input (the name "-"). Columns: user (the row), item
// (the column), rating; further columns are ignored. They are separated by tabs, commas or runs of blanks,
// as the first line decides (a tab before a comma before blanks). Blanks around a field are ignored, and
// so are blank lines. The first line is a header, and skipped, when none of its first three fields is a
// number. Ids are non-negative integers and kept as they are: rows = max user id + 1, and likewise columns.
// Cells come in the order of the file; a cell that occurs twice is kept twice.
//
// Throws FileError with line and column (of the line's byte) for: fewer fields than the first line has (so
// that a file cut off in its last line is noticed), an id that is no integer, negative or above its limit, a
// rating that is no number, not finite or out of a float's range, an unknown separator, a file without
// ratings, and whatever LineReader reports.
CoordinateMatrix read_ratings(const Input& input, const RatingFileOptions& options = {});

}  // namespace lapse::io
