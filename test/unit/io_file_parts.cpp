// Files read in parts: every line is read once and whole, with its number in the file.
#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/files/file_part.hpp"
#include "lapse/io/matrices/rating_file.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_compress.hpp"
#include "test/unit/io_standard_input.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using namespace lapse::io;
using lapse::test::compress;
using lapse::test::TemporaryDirectory;

namespace {

using NumberedLines = std::map<std::uint64_t, std::string>;

// The lines of one part with their numbers. `ask_always`: asks for the number of every line, else only of the
// last.
NumberedLines lines_of(const std::string& path, FilePart part, bool ask_always) {
  LineReader reader(path, part);
  std::vector<std::string> lines;
  NumberedLines numbered;
  for (std::string_view line; reader.next(line);) {
    lines.emplace_back(line);
    if (ask_always) REQUIRE(numbered.emplace(reader.line_number(), line).second);
  }
  if (ask_always) return numbered;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    numbered.emplace(reader.line_number() - lines.size() + i + 1, lines[i]);
  }
  return numbered;
}

void check_parts(const std::string& path, std::uint32_t parts, const NumberedLines& expected,
                 bool ask_always) {
  CAPTURE(parts);
  NumberedLines all;
  for (std::uint32_t index = 0; index < parts; ++index) {
    for (const auto& [number, line] : lines_of(path, {index, parts}, ask_always)) {
      REQUIRE(all.emplace(number, line).second);
    }
  }
  REQUIRE(all == expected);
}

std::string random_text(lapse::RandomEngine& random) {
  std::string text;
  const std::uint64_t lines = random.below(40);
  for (std::uint64_t i = 0; i < lines; ++i) {
    text += std::string(random.below(4) == 0 ? 0 : random.below(30), static_cast<char>('a' + i % 26));
    if (i + 1 < lines || random.below(2) == 0) text += random.below(5) == 0 ? "\r\n" : "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the parts of a file have every line once, whatever the number of parts") {
  const TemporaryDirectory directory;
  lapse::RandomEngine random(7);
  for (int round = 0; round < 12; ++round) {
    const std::string text = random_text(random);
    CAPTURE(text);
    const std::string path = directory.write("file", text);
    const NumberedLines expected = lines_of(path, {}, true);
    for (const std::uint32_t parts : {1U, 2U, 3U, 7U}) check_parts(path, parts, expected, true);
    // With a sanitizer each reader takes milliseconds.
    if (round % 3 == 0) check_parts(path, 64, expected, false);
    if (round == 0) check_parts(path, 1000, expected, false);
  }
}

TEST_CASE("compressed files are divided into blocks of lines") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::gzip, Compression::xz, Compression::zstd);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string path = directory.write("file", compress(compression, text));
  const NumberedLines expected = lines_of(path, {}, true);
  CHECK(expected.size() == 1000);
  for (const std::uint32_t parts : {1U, 2U, 5U, 40U}) check_parts(path, parts, expected, true);
  CHECK(lines_of(path, {1, 5}, true).begin()->first == LineReader::kLinesPerBlock + 1);
  CHECK(part_scheme(path) == PartScheme::line_blocks);
  CHECK_FALSE(can_split(path));
}

TEST_CASE("lines longer than parts and blocks belong to the part where they begin") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(
      "file", fmt::format("short\n{}\n{}\nend", std::string(1000000, 'x'), std::string(900000, 'y')));
  const NumberedLines expected = lines_of(path, {}, true);
  CHECK(expected.size() == 4);
  for (const std::uint32_t parts : {2U, 3U, 50U}) check_parts(path, parts, expected, true);
  CHECK(can_split(path));
}

TEST_CASE("part 0 has all of standard input and of pipes, and the others do not touch them") {
  const TemporaryDirectory directory;
  {
    const lapse::test::StandardInput input(directory.write("file", "one\ntwo\n"));
    CHECK(part_scheme("-") == PartScheme::first_part);
    CHECK(lines_of("-", {1, 3}, true).empty());
    CHECK(lines_of("-", {0, 3}, true).size() == 2);
  }
  const std::string pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(part_scheme(pipe) == PartScheme::first_part);
  CHECK(lines_of(pipe, {1, 2}, true).empty());
}

TEST_CASE("errors in a part name line and column in the file") {
  const TemporaryDirectory directory;
  std::string text = "user item rating\n";
  for (int i = 0; i < 3000; ++i) text += "1 2 3\n";
  text += "1 x 3\n1 2 3\n";
  const auto compression = GENERATE(Compression::none, Compression::zstd);
  const std::string path = directory.write("ratings", compress(compression, text));
  int errors = 0;
  for (std::uint32_t index = 0; index < 4; ++index) {
    try {
      RatingIds ids;
      read_ratings(path, ids, {.part = {index, 4}});
    } catch (const lapse::FileError& error) {
      ++errors;
      CHECK(error.line() == 3002);
      CHECK(error.column() == 3);
    }
  }
  CHECK(errors == 1);
}

TEST_CASE("parts of rating files use the header and the columns of the first line") {
  const TemporaryDirectory directory;
  const std::string start = GENERATE("", "\n  \nuser,item,rating,time\n", "user,item,rating,time\n");
  const auto compression = GENERATE(Compression::none, Compression::gzip);
  std::string text = start;
  for (int i = 0; i < 300; ++i) text += std::to_string(i) + ",7," + std::to_string(i % 5) + ",0\n";
  const std::string path = directory.write("ratings", compress(compression, text));
  RatingIds ids;
  const CoordinateMatrix whole = read_ratings(path, ids);
  for (const std::uint32_t parts : {2U, 3U, 20U}) {
    CoordinateMatrix all;
    for (std::uint32_t index = 0; index < parts; ++index) {
      const CoordinateMatrix part = read_ratings(path, ids, {.part = {index, parts}});
      CHECK(part.rows == 300);
      CHECK(part.columns == 1);
      all.cells.insert(all.cells.end(), part.cells.begin(), part.cells.end());
    }
    std::sort(all.cells.begin(), all.cells.end(), [](const Cell& a, const Cell& b) { return a.row < b.row; });
    CHECK(all.cells == whole.cells);
  }
  const std::string narrow =
      directory.write("narrow", fmt::format("1,2,3,4\n{}1,2,3\n", std::string(40, '\n')));
  CHECK_THROWS_WITH(read_ratings(narrow, ids, {.part = {1, 2}}),
                    Contains("narrow:42:6: 3 columns, expected 4"));
  CHECK(read_ratings(directory.write("empty", ""), ids, {.part = {1, 2}}).cells.empty());
}

TEST_CASE("part numbers outside their count, and files that are missing, are errors") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "one\n");
  CHECK_THROWS_AS(LineReader(path, {2, 2}), lapse::UsageError);
  CHECK_THROWS_AS(LineReader(path, {0, 0}), lapse::UsageError);
  CHECK_THROWS_AS(LineReader(directory / "missing", {1, 2}), lapse::FileError);
  CHECK_THROWS_AS(LineReader(directory / "", {1, 2}), lapse::FileError);
  CHECK_THROWS_AS(part_scheme(directory / "missing"), lapse::FileError);
  CHECK_THROWS_AS(part_scheme(directory / ""), lapse::FileError);
}
