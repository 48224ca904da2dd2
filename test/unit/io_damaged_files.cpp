// Random damage to files: a reader returns the contents or throws FileError. It never crashes or hangs, and
// returns no wrong data from files with a checksum.
#include <algorithm>
#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/matrices/rating_file.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "lapse/io/npy/npy_writer.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/triples/triple_file.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_compress.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse::io;
using lapse::RandomEngine;
using lapse::test::compress;
using lapse::test::TemporaryDirectory;

namespace {

constexpr int kRounds = 60;
// The longest magic bytes. A file without them is plain.
constexpr std::size_t kMagicBytes = 6;

std::string text_of(std::uint64_t lines, RandomEngine& random) {
  std::string text;
  for (std::uint64_t i = 0; i < lines; ++i) {
    text += std::to_string(random.below(500)) + "\t" + std::to_string(random.below(90)) + "\t" +
            std::to_string(random.below(10)) + "\n";
  }
  return text;
}

// Truncates the file, flips bits, overwrites or inserts bytes, from a position on.
std::string damaged(std::string data, std::size_t from, RandomEngine& random) {
  const auto position = [&] { return from + random.below(data.size() - from); };
  switch (random.below(4)) {
    case 0:
      data.resize(position());
      break;
    case 1:
      for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
        char& byte = data[position()];
        byte = static_cast<char>(byte ^ (1 << random.below(8)));
      }
      break;
    case 2:
      data[position()] = static_cast<char>(random.below(256));
      break;
    default:
      data.insert(position(), random.below(20) + 1, static_cast<char>(random.below(256)));
  }
  return data;
}

// Reads with every reader.
void read_in_all_ways(const std::string& path) {
  const auto attempt = [](const auto& read) {
    try {
      read();
    } catch (const lapse::FileError&) {
    }
  };
  RatingIds ids;
  attempt([&] { read_ratings(path, ids); });
  attempt([&] { read_ratings(path, ids, {.part = {1, 3}}); });
  attempt([&] { read_vocabulary(path); });
  attempt([&] { read_id_triples(path, 1000, 1000); });
  attempt([&] {
    Vocabulary entities;
    Vocabulary relations;
    read_triples(path, NameIds::growing(entities), NameIds::growing(relations), {2, 3});
  });
}

std::string lines_of(const std::string& path) {
  std::string text;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) text.append(line) += '\n';
  return text;
}

}  // namespace

TEST_CASE("damaged compressed files give their data or an error, never other data") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::gzip, Compression::xz, Compression::zstd);
  RandomEngine random(3, static_cast<std::uint64_t>(compression));
  const std::string text = text_of(2000, random);
  const std::string whole = compress(compression, text);
  int errors = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = directory.write("file", damaged(whole, kMagicBytes, random));
    try {
      const std::string read = lines_of(path);
      REQUIRE(read == text);
    } catch (const lapse::FileError& error) {
      REQUIRE(error.line() > 0);
      ++errors;
    }
  }
  // Some bytes are ignored, such as the time in a gzip header.
  CHECK(errors > kRounds * 9 / 10);
}

TEST_CASE("damage anywhere, also to the bytes that name the compression, is read or refused") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::none, Compression::gzip, Compression::xz, Compression::zstd);
  RandomEngine random(4, static_cast<std::uint64_t>(compression));
  const std::string whole = compress(compression, text_of(60, random));
  for (int round = 0; round < kRounds / 3; ++round) {
    std::string data = damaged(whole, 0, random);
    if (random.below(2) == 0 && !data.empty()) data = damaged(data, 0, random);
    read_in_all_ways(directory.write("file", data));
  }
  SUCCEED("no crash");
}

TEST_CASE("damaged .npy files are read or refused") {
  const TemporaryDirectory directory;
  RandomEngine random(5);
  const std::vector<std::int64_t> values(50, 7);
  write_npy<std::int64_t>(directory / "whole", {5, 10}, values);
  const std::string whole = lapse::test::content_of(directory / "whole");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_THROWS_AS(read_npy<std::int64_t>(directory.write("file", whole.substr(0, size))), lapse::FileError);
  }
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = directory.write("file", damaged(whole, 0, random));
    try {
      const auto array = read_npy<std::int64_t>(path);
      CHECK(array.values.size() == 50);
    } catch (const lapse::FileError&) {
    }
  }
}
