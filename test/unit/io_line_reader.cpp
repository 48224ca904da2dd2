// Lines of text files: line ends, blocks, and files that are not text.
#include "lapse/io/text/line_reader.hpp"

#include <sys/stat.h>

#include <string>
#include <thread>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using lapse::io::LineReader;
using lapse::test::TemporaryDirectory;

namespace {

std::vector<std::string> all_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) {
    lines.emplace_back(line);
    REQUIRE(reader.line_number() == lines.size());
  }
  return lines;
}

}  // namespace

TEST_CASE("lines end with a newline, with carriage return and newline, or with the file") {
  const TemporaryDirectory directory;
  using Lines = std::vector<std::string>;
  CHECK(all_lines(directory.write("a", "one\ntwo\r\n\nfour")) == Lines{"one", "two", "", "four"});
  CHECK(all_lines(directory.write("b", "one\n")) == Lines{"one"});
  CHECK(all_lines(directory.write("c", "")).empty());
  CHECK(all_lines(directory.write("d", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo")) ==
        Lines{"one", "\xEF\xBB\xBFtwo"});
}

TEST_CASE("a last line without a line end may be longer than all lines before it") {
  const TemporaryDirectory directory;
  using Lines = std::vector<std::string>;
  CHECK(all_lines(directory.write("a", "a\nlonger last line")) == Lines{"a", "longer last line"});
}

TEST_CASE("lines that span blocks come out whole") {
  const TemporaryDirectory directory;
  std::vector<std::string> expected;
  std::string content;
  for (std::size_t i = 0; i < 40; ++i) {
    expected.emplace_back(100000 + 997 * i, static_cast<char>('a' + i % 26));
    content += expected.back() + "\n";
  }
  CHECK(all_lines(directory.write("long", content)) == expected);
  const std::string longest(LineReader::kMaxLineBytes, 'x');
  CHECK(all_lines(directory.write("longest", longest)) == std::vector<std::string>{longest});
}

TEST_CASE("a line above the limit is an error that names its line") {
  const TemporaryDirectory directory;
  const std::string end = GENERATE("", "\n");
  LineReader reader(
      directory.write("long", "first\n" + std::string(LineReader::kMaxLineBytes + 1, 'x') + end));
  std::string_view line;
  REQUIRE(reader.next(line));
  try {
    reader.next(line);
    FAIL("no error");
  } catch (const lapse::FileError& error) {
    CHECK(error.line() == 2);
  }
}

TEST_CASE("a text in UTF-16 is refused as such") {
  const TemporaryDirectory directory;
  for (const std::string& text :
       {std::string("\xFF\xFE\x61\0\n\0", 6), std::string("\xFE\xFF\0\x61\0\n", 6)}) {
    CHECK_THROWS_WITH(all_lines(directory.write("text", text)),
                      Catch::Matchers::Contains("text:1:1: text in UTF-16, expected UTF-8"));
  }
}

TEST_CASE("files that are missing or directories are errors") {
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(LineReader(directory / "missing"), lapse::FileError);
  CHECK_THROWS_AS(LineReader(directory / ""), lapse::FileError);
}

TEST_CASE("pipes are read like files") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(path) << "one\n" << std::flush << "two\n"; });
  const auto lines = all_lines(path);
  writer.join();
  CHECK(lines == std::vector<std::string>{"one", "two"});
}
