// Rating files: one rating per line, `user item rating`, as used for MovieLens, MovieTweetings and the
// Netflix prize.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/files/file_part.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"
#include "lapse/io/vocabulary/row_ids.hpp"

namespace lapse::io {

// The ids seen so far: users are rows, items are columns.
struct RatingIds {
  RowIds users;
  RowIds items;
};

struct RatingFileOptions {
  // The columns of user, item and rating, each by its name in the first line or its number from 1. Two: each
  // line is a rating of 1. None: by the names in the first line; without known names the first three.
  std::vector<std::string> columns = {};
  // Of fields, as TableFields takes it; empty: found in the first line.
  std::string separator = {};
  // Of users and items.
  IdKind ids = IdKind::found;
  // Greater ids are treated as damaged input.
  std::uint64_t max_user_id = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_item_id = std::numeric_limits<std::uint64_t>::max();
  // Part of the file. The ratings of all parts together are those of the file; a part may be empty.
  FilePart part{};
};

// Reads a rating file, plain or compressed, or standard input (the path "-"). Columns: user (the row), item
// (the column), rating; other columns are ignored. The first line determines the separator (find_separator)
// and whether it is a header: it names the columns, or its user, item and rating begin with no number. A
// header with common names, such as userId, movieId and rating, says which columns they are, in any order.
// Blanks and quotes around a field, and blank lines, are ignored (TableFields).
//
// A file that begins with %%MatrixMarket is a matrix of rows (users) and columns (items), in the format
// coordinate, real, integer or pattern (each entry is a rating of 1), general.
//
// User ids are integers from 0 to 2^64 - 1, or names; so are item ids. Where options do not say which, the
// first id of each that is read into `ids` decides. Rows and columns are their indices in `ids`, to which new
// ids are added, so that files read with one RatingIds have the same rows and columns. The matrix has as many
// rows and columns as there are ids after reading. Ratings are rounded to the nearest float. Cells are in
// file order; a cell that occurs twice is kept twice. Warnings report columns that look like others: a header
// with other names, a first column that counts the lines, more different ratings than items. With several
// parts, the first part has them.
//
// Throws FileError with line and column (in bytes) for: fewer or more fields than in the first line (so that
// a cut-off last line or a decimal comma is noticed), quotes that do not end, an id that is not an integer,
// is negative or above its limit, an empty name, a rating that is not a number, not finite or too large for a
// float, columns that the first line lacks, a file without ratings, a Matrix Market file of
// another form, with other than the announced number of entries or one outside the matrix, and whatever
// LineReader reports. Throws
// OutOfMemory, with the line, and UsageError for other than two or three columns.
LAPSE_EXPORT CoordinateMatrix read_ratings(const Input& input, RatingIds& ids,
                                           const RatingFileOptions& options = {});

}  // namespace lapse::io
