// Compressed and plain inputs: distinguished by content and read completely; damage is never mistaken for the
// end.
#include "lapse/io/text/input_stream.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <string>
#include <thread>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/files/input_error.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_compress.hpp"
#include "test/unit/io_standard_input.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::Compression;
using lapse::io::detect_compression;
using lapse::io::InputStream;
using lapse::io::LineReader;
using lapse::test::compress;
using lapse::test::StandardInput;
using lapse::test::TemporaryDirectory;

namespace {

std::string all_of(const std::string& path, std::size_t block_bytes = 100000) {
  InputStream input(path);
  std::string content;
  std::vector<char> block(block_bytes);
  while (const std::size_t count = input.read(block)) content += std::string_view(block.data(), count);
  CHECK(input.read(block) == 0);
  return content;
}

// Numbered lines that compress poorly.
std::string numbers(std::size_t lines) {
  lapse::RandomEngine random(11);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += fmt::format("{}\t{}\n", i, random.below(1U << 30U));
  return text;
}

// The error at the end of a file, and the lines before it.
struct Ending {
  std::uint64_t lines = 0;
  std::uint64_t error_line = 0;
  std::string error;
};
Ending read_to_error(const std::string& path) {
  Ending ending;
  try {
    LineReader reader(path);
    for (std::string_view line; reader.next(line);) ++ending.lines;
  } catch (const lapse::FileError& error) {
    ending.error_line = error.line();
    ending.error = error.what();
  }
  return ending;
}

}  // namespace

TEST_CASE("the compression is recognized by the first bytes") {
  const auto detect = [](std::string_view bytes) { return detect_compression({bytes.data(), bytes.size()}); };
  CHECK(detect("") == Compression::none);
  CHECK(detect("1\t2\t3\n4\t5\t") == Compression::none);
  CHECK(detect("(") == Compression::none);
  CHECK(detect("P") == Compression::none);
  CHECK(detect("BZh") == Compression::none);
  CHECK(detect("BZhip code") == Compression::none);
  CHECK(detect("BZh91AY&SY") == Compression::bzip2);
  CHECK(detect("PK\x03\x04 and on") == Compression::zip);
  CHECK(detect("\x1f\x8b\x08") == Compression::gzip);
  CHECK(detect("\x1f") == Compression::gzip);
  CHECK(detect("\xfd") == Compression::xz);
  CHECK(detect("\xfd\x37zX") == Compression::xz);
  CHECK(detect("\x28\xb5") == Compression::zstd);
  CHECK(detect("\x28\xb5\x2f\xfd") == Compression::zstd);
  CHECK(detect("\x5f\x2a\x4d\x18\x04") == Compression::zstd);
  CHECK(detect("\xfftext") == Compression::none);
}

TEST_CASE("inputs are read whole, whatever their compression and size") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::none, Compression::gzip, Compression::xz, Compression::zstd);
  const std::size_t lines = GENERATE(0, 1, 200000);
  const std::string content = numbers(lines);
  const std::string path = directory.write("file", compress(compression, content));
  CHECK(InputStream(path).compression() == compression);
  CHECK(all_of(path) == content);
  if (lines == 1) CHECK(all_of(path, 3) == content);
  CHECK(InputStream(path).size() ==
        (compression == Compression::none ? std::optional(content.size()) : std::nullopt));
}

TEST_CASE("members and frames that follow each other are one input") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::gzip, Compression::xz, Compression::zstd);
  const std::string joined = compress(compression, "one\ntw") + compress(compression, "") +
                             compress(compression, "o\nthree") + compress(compression, numbers(70000));
  CHECK(all_of(directory.write("file", joined)) == "one\ntwo\nthree" + numbers(70000));
  const std::string skippable("\x53\x2a\x4d\x18\x02\x00\x00\x00!!", 10);
  CHECK(all_of(directory.write("file", skippable + lapse::test::zstd("a") + skippable)) == "a");
  CHECK(all_of(directory.write("file", lapse::test::xz("a") + std::string(8, '\0') + lapse::test::xz("b"))) ==
        "ab");
}

TEST_CASE("an input that is cut off anywhere is an error") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::gzip, Compression::xz, Compression::zstd);
  const std::string whole = compress(compression, numbers(30));
  for (std::size_t size = 2; size < whole.size(); ++size) {
    const Ending ending = read_to_error(directory.write("file", whole.substr(0, size)));
    CAPTURE(size, ending.error);
    REQUIRE(ending.error.find(fmt::format(": {} data end early: the file is cut off",
                                          compression_name(compression))) != std::string::npos);
    REQUIRE(ending.error_line == ending.lines + 1);
  }
}

TEST_CASE("what lies before the damage is read, and the error names the line") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::gzip, Compression::xz, Compression::zstd);
  const std::string content = numbers(400000);
  std::string damaged = compress(compression, content);
  const auto middle = damaged.begin() + static_cast<std::ptrdiff_t>(damaged.size() / 2);
  std::fill(middle, middle + 64, '\xa5');
  const Ending ending = read_to_error(directory.write("file", damaged));
  CAPTURE(ending.error);
  CHECK_THAT(ending.error, Contains("damaged"));
  CHECK_THAT(ending.error, Contains("of the compressed file)"));
  CHECK(ending.error_line == ending.lines + 1);
  // All parts compress equally well, so about half is right.
  CHECK(ending.lines > 150000);
  CHECK(ending.lines < 250000);
}

TEST_CASE("other data behind compressed ones are an error") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::gzip, Compression::xz, Compression::zstd);
  const Ending ending =
      read_to_error(directory.write("file", compress(compression, "one\ntwo\n") + "3\t4\t5\n6\t7\t8\n"));
  CAPTURE(ending.error);
  CHECK(ending.lines == 2);
  CHECK(ending.error_line == 3);
  CHECK_THAT(ending.error, Contains("followed by other data"));
}

TEST_CASE("compressions that are not supported are named") {
  const TemporaryDirectory directory;
  CHECK_THROWS_WITH(InputStream(directory.write("file.bz2", "BZh91AY&SY....")),
                    Contains("file.bz2: is compressed with bzip2, expected a plain file, gzip, xz or zstd"));
  CHECK_THROWS_AS(InputStream(directory.write("file.zip", "PK\x03\x04....")), lapse::FileError);
}

TEST_CASE("standard input is read, compressed or not, and stays open") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::none, Compression::gzip, Compression::xz, Compression::zstd);
  const std::string content = numbers(50000);
  const StandardInput input(directory.write("file", compress(compression, content)));
  CHECK_FALSE(InputStream("-").size());
  CHECK(::lseek(STDIN_FILENO, 0, SEEK_SET) == 0);
  CHECK(all_of("-") == content);
  CHECK(::fcntl(STDIN_FILENO, F_GETFD) >= 0);
  CHECK(all_of("-").empty());
}

TEST_CASE("errors in standard input call it by its name") {
  const TemporaryDirectory directory;
  {
    const StandardInput input(directory.write("file", std::string("one\nt\0o\n", 8)));
    CHECK_THAT(read_to_error("-").error, Contains("standard input:2:2: NUL byte"));
  }
  const StandardInput input(directory / "");
  CHECK_THAT(read_to_error("-").error, Contains("standard input: is a directory"));
}

TEST_CASE("compressed data come through pipes in any pieces") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const std::string content = numbers(300);
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    for (const char byte : lapse::test::xz(content)) pipe << byte << std::flush;
  });
  const std::string received = all_of(path);
  writer.join();
  CHECK(received == content);
}
