// Rating files: separators, headers, ids, and errors for damaged files.
#include "lapse/io/matrices/rating_file.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::Cell;
using lapse::io::CoordinateMatrix;
using lapse::io::IdIndex;
using lapse::io::RatingIds;
using lapse::io::read_ratings;
using lapse::test::TemporaryDirectory;

namespace {

CoordinateMatrix parse(const std::string& content, RatingIds& ids,
                       const lapse::io::RatingFileOptions& options = {}) {
  const TemporaryDirectory directory;
  return read_ratings(directory.write("ratings", content), ids, options);
}

CoordinateMatrix parse(const std::string& content, const lapse::io::RatingFileOptions& options = {}) {
  RatingIds ids;
  return parse(content, ids, options);
}

float parse_rating(const std::string& rating) {
  return parse("1 2 " + rating + "\n").cells.front().value;
}

using Ids = std::vector<std::uint64_t>;
constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint64_t>::max();

// Checks that the content is refused at this position, with a message that contains the words.
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

const std::vector<Cell> kTwoCells{{0, 0, 3.5F}, {1, 1, -1.0F}};

}  // namespace

TEST_CASE("Matrix Market files are read, whole and in parts") {
  const TemporaryDirectory directory;
  const std::string path =
      directory.write("matrix.mtx",
                      "%%MatrixMarket matrix coordinate Real general\n% of a program\n\n%\n"
                      " 3  4 3\n1 1 3.5\n3 4 -1\n\n2 1 2e0\n");
  RatingIds ids;
  const CoordinateMatrix matrix = read_ratings(path, ids);
  CHECK(ids.users.ids() == Ids{1, 3, 2});
  CHECK(ids.items.ids() == Ids{1, 4});
  CHECK(matrix.cells == std::vector<Cell>{{0, 0, 3.5F}, {1, 1, -1.0F}, {2, 0, 2.0F}});
  CHECK(matrix.layout == "Matrix Market, real, 3 x 4, 3 entries; user: row, item: column, rating: value");
  CHECK(matrix.warnings.empty());
  std::vector<float> values;
  for (std::uint32_t part = 0; part < 4; ++part) {
    RatingIds own;
    for (const Cell& cell : read_ratings(path, own, {.part = {part, 4}}).cells) values.push_back(cell.value);
  }
  std::ranges::sort(values);
  CHECK(values == std::vector<float>{-1, 2, 3.5F});
  CHECK(parse("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n").cells ==
        std::vector<Cell>{{0, 0, 1}, {1, 1, 1}});
}

TEST_CASE("Matrix Market files of other forms, or cut off, are refused") {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  check_refused("%%MatrixMarket matrix array real general\n2 2\n1\n", 1, 23, "'array', expected coordinate");
  check_refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n", 1, 34,
                "'complex', expected real or integer or pattern");
  check_refused("%%MatrixMarket matrix coordinate real symmetric\n", 1, 39, "'symmetric', expected general");
  check_refused("%%MatrixMarket matrix\n", 1, 1, "2 words, expected `%%MatrixMarket matrix coordinate");
  check_refused(head + "2 2\n", 2, 1, "2 numbers, expected those of rows, columns and entries");
  check_refused(head + "2 -2 1\n", 2, 3, "'-2', expected a number of rows");
  check_refused(head + "% only a comment\n", 0, 0, "ends before the line of its sizes");
  check_refused(head + "2 2 2\n1 1 1\n", 0, 0, "has 1 entries, expected 2, as the line of its sizes says");
  check_refused(head + "2 2 1\n3 1 1\n", 3, 1, "user id '3'");
  check_refused(head + "2 2 1\n1 3 1\n", 3, 3, "item id '3'");
  check_refused(head + "2 2 1\n0 1 1\n", 3, 1, "'0', expected a row or column from 1");
  check_refused(head + "2 2 1\n1 1\n", 3, 4, "column");
  lapse::io::RatingFileOptions options;
  options.columns = {"1", "2"};
  CHECK_THROWS_WITH(parse(head + "2 2 1\n1 1 1\n", options), Contains("has fixed columns"));
}

TEST_CASE("ratings separated by tabs, commas or blanks are read") {
  const std::string content = GENERATE(
      "1\t7\t3.5\n4\t0\t-1\n", "1,7,3.5\n4,0,-1", "1 7 3.5\n4 0 -1\n", "  1   7 3.5\r\n4 0  -1 \r\n",
      "1\t7\t3.5\t99\n4\t0\t-1\tfurther column\n", "1, 7, 3.5\n\n4, 0, -1e0\n  \n",
      "user,item,rating\n1,7,3.5\n4,0,-1\n", "\xEF\xBB\xBFuser item rating time\n1 7 3.5 0\n4 0 -1 0\n");
  CAPTURE(content);
  RatingIds ids;
  const CoordinateMatrix matrix = parse(content, ids);
  CHECK(matrix.cells == kTwoCells);
  CHECK(matrix.rows == 2);
  CHECK(matrix.columns == 2);
  CHECK(ids.users.ids() == Ids{1, 4});
  CHECK(ids.items.ids() == Ids{7, 0});
}

TEST_CASE("any 64-bit numbers are ids, and a matrix has as many rows as there are different ones") {
  RatingIds ids;
  const CoordinateMatrix matrix = parse("18446744073709551615 5 1\n0 5 2\n18446744073709551615 4 3\n", ids);
  CHECK(matrix.cells == std::vector<Cell>{{0, 0, 1}, {1, 0, 2}, {0, 1, 3}});
  CHECK(ids.users.ids() == Ids{kMaxId, 0});
  CHECK(ids.items.ids() == Ids{5, 4});
  // A second file continues the rows of the first.
  const CoordinateMatrix second = parse("7 4 1\n0 2147483648 1\n", ids);
  CHECK(second.cells == std::vector<Cell>{{2, 1, 1}, {1, 2, 1}});
  CHECK(second.rows == 3);
  CHECK(second.columns == 3);
}

TEST_CASE("ids above their limits are refused") {
  CHECK(parse("3 9 1\n", {.max_user_id = 3, .max_item_id = 9}).cells.size() == 1);
  CHECK_THROWS_WITH(parse("4 9 1\n", {.max_user_id = 3}),
                    Contains("user id '4' out of range, expected at most 3"));
  CHECK_THROWS_WITH(parse("3 10 1\n", {.max_item_id = 9}),
                    Contains("item id '10' out of range, expected at most 9"));
}

TEST_CASE("ids have indices in the order of their first occurrence, and after sorting in ascending order") {
  IdIndex index;
  CHECK(index.sort().empty());
  // Runs, multiples of powers of two and hashes: none of them may crowd one part of the hash table.
  Ids given;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    given.insert(given.end(), {i + 5, kMaxId - i, i << 40U, (i + 1) * 0x9e3779b97f4a7c15U});
  }
  std::vector<IdIndex::Index> indices;
  for (const std::uint64_t id : given) indices.push_back(index.add(id));
  for (std::size_t i = 0; i < given.size(); ++i) CHECK(index.ids()[indices[i]] == given[i]);
  const std::vector<IdIndex::Index> sorted = index.sort();
  REQUIRE(sorted.size() == index.size());
  CHECK(std::is_sorted(index.ids().begin(), index.ids().end()));
  CHECK(std::adjacent_find(index.ids().begin(), index.ids().end()) == index.ids().end());
  for (std::size_t i = 0; i < given.size(); ++i) {
    CHECK(index.ids()[sorted[indices[i]]] == given[i]);
    CHECK(index.add(given[i]) == sorted[indices[i]]);
  }
  CHECK(index.add(kMaxId / 2) == sorted.size());
}

TEST_CASE("ratings are the nearest floats, also below the smallest of them") {
  CHECK(parse_rating("3.4028235e38") == std::numeric_limits<float>::max());
  CHECK(parse_rating("1e-40") == 1e-40F);
  CHECK(parse_rating("1e-46") == 0);
  CHECK(parse_rating("1e-300") == 0);
  CHECK(parse_rating("-1e-300") == 0);
  CHECK(parse_rating("1234567890.5e-100000") == 0);
  CHECK(parse_rating("0.00012e-99999999999999999999") == 0);
  CHECK(parse_rating("0." + std::string(500, '0') + "1") == 0);
  check_refused("1 2 1e39\n", 1, 5,
                "rating '1e39' is too large for a float, expected a magnitude of at most 3.40282e+38");
  check_refused("1 2 -1e300\n", 1, 5,
                "rating '-1e300' is too large for a float, expected a magnitude of at most 3.40282e+38");
  check_refused("1 2 0.001e+99999999999999999999\n", 1, 5, "is too large");
  check_refused("1 2 " + std::string(500, '9') + ".5\n", 1, 5, "is too large");
}

TEST_CASE("malformed ratings are refused with line and column") {
  check_refused("1\t2\t3\n1\tx\t3\n", 2, 3, "item id 'x'");
  check_refused("1\t2\t3\n-1\t2\t3\n", 2, 1, "user id '-1'");
  check_refused("1\t2\t3\n1.5\t2\t3\n", 2, 1, "user id '1.5'");
  check_refused("1\t2\t3\n1\t\t3\n", 2, 3, "item id ''");
  check_refused("18446744073709551616\t2\t3\n", 1, 1, "out of range, expected at most 18446744073709551615");
  check_refused("99999999999999999999999\t2\t3\n", 1, 1, "out of range");
  check_refused("1\t2\tnan\n", 1, 5, "rating 'nan'");
  check_refused("1\t2\t3\n1\t2\t-inf\n", 2, 5, "rating '-inf'");
  check_refused("1\t2\tinf\n", 1, 5, "rating 'inf', expected a finite number");
  check_refused("1\t2\t3stars\n", 1, 5, "rating '3stars'");
  check_refused("1\t2\tx\n", 1, 5, "rating 'x'");
  check_refused(
      "1/2/3\n", 1, 6,
      "1 column, expected 3, separated by tabs, double colons, semicolons, commas, bars or blanks: the "
      "line has none");
  check_refused("1;2;x\n", 1, 5, "rating 'x'");
  check_refused("user\titem\trating\n1\t2\t3\n1\tx\t3\n", 3, 3, "item id 'x'");
  check_refused("a\tb\tc\nd\te\tf\n", 2, 5, "rating 'f'");
  check_refused(std::string("1\t2\t3\n1\t2\t\0\n", 13), 2, 5, "NUL byte, expected a text file");
  check_refused("1 2 " + std::string(1000, 'z') + "\n", 1, 5, std::string(40, 'z') + "...'");
}

TEST_CASE("a line with fewer or more columns than the first is refused") {
  check_refused("1\t2\t3\t100\n1\t2\t4\t200\n1\t2", 3, 4, "2 columns, expected 4, separated by tabs");
  check_refused("1\t2\t3\t100\n1\t2\t4", 2, 6, "3 columns, expected 4");
  check_refused("1,2\n", 1, 4, "2 columns, expected 3, separated by commas");
  check_refused("1 2 3\n5\n", 2, 2,
                "1 column, expected 3, separated by blanks as in the first line: the line has none");
  check_refused("1\t2\t3\n1,2,3\n", 2, 6, "tabs as in the first line: the line has none, but commas");
  // A decimal comma.
  check_refused("user,item,rating\n1,1,2,5\n", 2, 7, "4 columns, expected 3, separated by commas as in the");
  check_refused("1 2 3\n1 2 3\n1 2 3 4 5\n", 3, 7, "5 columns, expected 3, separated by blanks");
  check_refused("1,2,3\n1,2,3,\n", 2, 7, "4 columns, expected 3");
}

TEST_CASE("columns that look like others are a warning, of the first part alone") {
  const auto warning = [](const std::string& content, lapse::io::FilePart part = {}) {
    const TemporaryDirectory directory;
    RatingIds ids;
    const auto warnings = read_ratings(directory.write("ratings", content), ids, {.part = part}).warnings;
    return warnings.empty() ? std::string() : warnings.at(0).substr(warnings.at(0).rfind('/') + 1);
  };
  // Names that are not known.
  const std::string index = ",who,what,how\n0,1,8,4.0\n1,1,19,3.0\n";
  CHECK(warning(index) ==
        "ratings: the header names the columns '', 'who', 'what', 'how': the first three are read as user, "
        "item and rating, whatever their names");
  CHECK(warning(index, {0, 2}) == warning(index));
  CHECK(warning(index, {1, 2}).empty());
  // Known ones in another order are read as what they are.
  CHECK(warning("item,user,rating\n1,2,3\n").empty());
  CHECK_THAT(warning("a b c d e f g\n1 2 3 4 5 6 7\n"), Contains("'f', ...: the first three"));
  for (const char* header :
       {"user,item,rating", "userId,movieId,rating,timestamp", "User_ID Item-ID Rating"}) {
    const bool has_blanks = std::string(header).find(' ') != std::string::npos;
    const std::string line = std::string(header).ends_with("timestamp") ? "1,2,3,4"
                             : has_blanks                               ? "1 2 3"
                                                                        : "1,2,3";
    CHECK(warning(header + ("\n" + line) + "\n").empty());
  }
  // Without a header: the numbers of lines, and another order.
  std::string counted;
  std::string swapped;
  std::string usual;
  for (int i = 0; i < 200; ++i) {
    const std::string rest =
        std::to_string(i / 9) + "," + std::to_string(i % 50) + "," + std::to_string(i % 5);
    counted += std::to_string(i + 1) + "," + rest + "\n";
    usual += rest + "\n";
    swapped += std::to_string(i / 9) + "," + std::to_string(i % 5) + "," + std::to_string(i % 50) + "\n";
  }
  CHECK_THAT(warning(counted), Contains("the first column counts the lines, and is read as the user"));
  CHECK_THAT(warning(swapped), Contains("have 50 different ratings of 5 different items"));
  CHECK(warning(usual).empty());
}

TEST_CASE("files without ratings are refused") {
  check_refused("", 0, 0, "contains no ratings");
  check_refused("\n \n", 0, 0, "contains no ratings");
  check_refused("user item rating\n", 0, 0, "contains no ratings");
  const TemporaryDirectory directory;
  RatingIds ids;
  CHECK_THROWS_AS(read_ratings(directory / "missing", ids), lapse::FileError);
  CHECK_THROWS_AS(read_ratings(directory / "", ids), lapse::FileError);
}
