// Rating files: separators, headers, ids, and what a damaged file is answered with.
#include "io/rating_file.hpp"

#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::Cell;
using lapse::io::CoordinateMatrix;
using lapse::io::read_ratings;
using lapse::test::TemporaryDirectory;

namespace {

CoordinateMatrix parse(const std::string& content, const lapse::io::RatingFileOptions& options = {}) {
  const TemporaryDirectory directory;
  return read_ratings(directory.write("ratings", content), options);
}

// Checks that the content is refused at this place, with a message that contains the words.
void check_refused(const std::string& content, std::uint64_t line, std::uint64_t column,
                   const std::string& words) {
  CAPTURE(content);
  try {
    parse(content);
    FAIL("no error");
  } catch (const lapse::FileError& error) {
    CHECK(error.line() == line);
    CHECK(error.column() == column);
    CHECK_THAT(error.what(), Contains(words));
  }
}

const std::vector<Cell> kTwoCells{{1, 7, 3.5F}, {4, 0, -1.0F}};

}  // namespace

TEST_CASE("ratings separated by tabs, commas or blanks are read") {
  const std::string content = GENERATE(
      "1\t7\t3.5\n4\t0\t-1\n", "1,7,3.5\n4,0,-1", "1 7 3.5\n4 0 -1\n", "  1   7 3.5\r\n4 0  -1 \r\n",
      "1\t7\t3.5\t99\n4\t0\t-1\tfurther\tcolumns\n", "1, 7, 3.5\n\n4, 0, -1e0\n  \n",
      "user,item,rating\n1,7,3.5\n4,0,-1\n", "\xEF\xBB\xBFuser item rating time\n1 7 3.5 0\n4 0 -1 0\n");
  CAPTURE(content);
  const CoordinateMatrix matrix = parse(content);
  CHECK(matrix.cells == kTwoCells);
  CHECK(matrix.rows == 5);
  CHECK(matrix.columns == 8);
}

TEST_CASE("ids are kept as they are, up to their limits") {
  const CoordinateMatrix matrix = parse("2147483647 5 1\n0 0 1\n");
  CHECK(matrix.rows == 2147483648U);
  CHECK(matrix.columns == 6);
  CHECK(parse("3 9 1\n", {.max_row_id = 3, .max_column_id = 9}).cells.size() == 1);
  CHECK_THROWS_WITH(parse("4 9 1\n", {.max_row_id = 3}),
                    Contains("user id '4' out of range, expected at most 3"));
  CHECK_THROWS_WITH(parse("3 10 1\n", {.max_column_id = 9}),
                    Contains("item id '10' out of range, expected at most 9"));
  CHECK(parse("4294967295 0 1\n", {.max_row_id = 4294967295U}).rows == 4294967296U);
}

TEST_CASE("malformed ratings are refused with line and column") {
  check_refused("1\t2\t3\n1\tx\t3\n", 2, 3, "item id 'x'");
  check_refused("1\t2\t3\n-1\t2\t3\n", 2, 1, "user id '-1'");
  check_refused("1\t2\t3\n1.5\t2\t3\n", 2, 1, "user id '1.5'");
  check_refused("1\t2\t3\n1\t\t3\n", 2, 3, "item id ''");
  check_refused("2147483648\t2\t3\n", 1, 1, "out of range");
  check_refused("99999999999999999999999\t2\t3\n", 1, 1, "out of range");
  check_refused("1\t2\tnan\n", 1, 5, "rating 'nan'");
  check_refused("1\t2\t3\n1\t2\t-inf\n", 2, 5, "rating '-inf'");
  check_refused("1\t2\t1e39\n", 1, 5, "rating '1e39'");
  check_refused("1\t2\t3stars\n", 1, 5, "rating '3stars'");
  check_refused("1\t2\tx\n", 1, 5, "rating 'x'");
  check_refused("1;2;3\n", 1, 6, "1 columns, expected 3");
  check_refused("user\titem\trating\n1\tx\t3\n", 2, 3, "item id 'x'");
  check_refused("a\tb\tc\nd\te\tf\n", 2, 1, "user id 'd'");
  check_refused(std::string("1\t2\t3\n1\t2\t\0\n", 13), 2, 5, "NUL byte, expected a text file");
  check_refused("1 2 " + std::string(1000, 'z') + "\n", 1, 5, std::string(40, 'z') + "...'");
}

TEST_CASE("a line with fewer columns than the first is refused") {
  check_refused("1\t2\t3\t100\n1\t2\t4\t200\n1\t2", 3, 4, "2 columns, expected 4, separated by tabs");
  check_refused("1\t2\t3\t100\n1\t2\t4", 2, 6, "3 columns, expected 4");
  check_refused("1,2\n", 1, 4, "2 columns, expected 3, separated by commas");
  check_refused("1 2 3\n5\n", 2, 2, "1 columns, expected 3, separated by blanks");
}

TEST_CASE("files without ratings are refused") {
  check_refused("", 0, 0, "contains no ratings");
  check_refused("\n \n", 0, 0, "contains no ratings");
  check_refused("user item rating\n", 0, 0, "contains no ratings");
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(read_ratings(directory / "missing"), lapse::FileError);
  CHECK_THROWS_AS(read_ratings(directory / ""), lapse::FileError);
}
