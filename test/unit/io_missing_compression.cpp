// Without the library for a format, files of that format are refused, and other files are read.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "lapse/core/file_error.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::LineReader;

TEST_CASE("files of a format that the build lacks are refused by name") {
  const lapse::test::TemporaryDirectory directory;
  const auto [format, package, begin] =
      GENERATE(table<std::string, std::string, std::string>({{"gzip", "zlib", "\x1f\x8b\x08"},
                                                             {"xz", "liblzma", "\xfd\x37zXZ"},
                                                             {"zstd", "libzstd", "\x28\xb5\x2f\xfd"}}));
  const std::string path = directory.write("file", begin + std::string(20, '\0'));
  CHECK_THROWS_WITH(LineReader(path), Contains(path) &&
                                          Contains(fmt::format("is compressed with {}", format)) &&
                                          Contains("was made without " + package));
}

TEST_CASE("plain files are read without any library for compression") {
  const lapse::test::TemporaryDirectory directory;
  LineReader reader(directory.write("file", "one line\n"));
  std::string_view line;
  REQUIRE(reader.next(line));
  CHECK(line == "one line");
}
