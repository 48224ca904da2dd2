// Reading and writing flat byte strings, especially at their ends.
#include "lapse/core/bytes.hpp"

#include <limits>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using lapse::ByteReader;
using lapse::ByteWriter;
using lapse::ProtocolError;

namespace {
struct Point {
  std::int32_t x;
  std::int32_t y;
};
}  // namespace

TEST_CASE("what was written is read") {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.write(std::uint8_t{7});
  writer.write(std::uint64_t{0x0102030405060708});
  writer.write(Point{-1, 2});
  writer.write_string("factors");
  writer.write_string("");
  const std::vector<double> values{1.5, -2.5};
  writer.write_all(std::span<const double>(values));

  ByteReader reader(bytes);
  CHECK(reader.read<std::uint8_t>() == 7);
  CHECK(reader.read<std::uint64_t>() == 0x0102030405060708);
  const auto point = reader.read<Point>();
  CHECK(point.x == -1);
  CHECK(point.y == 2);
  CHECK(reader.read_string() == "factors");
  CHECK(reader.read_string().empty());
  CHECK(reader.read_vector<double>(2) == values);
  CHECK(reader.remaining() == 0);
  CHECK_NOTHROW(reader.require_end());
}

TEST_CASE("numbers are stored in little-endian order") {
  std::vector<std::byte> bytes;
  ByteWriter(bytes).write(std::uint32_t{0x01020304});
  CHECK(bytes == std::vector<std::byte>{std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}});
}

TEST_CASE("reading past the end throws and moves nothing") {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.write(std::uint32_t{5});
  ByteReader reader(bytes, "PULL");
  CHECK_THROWS_AS(reader.read<std::uint64_t>(), ProtocolError);
  CHECK_THROWS_WITH(reader.read<std::uint64_t>(), Contains("PULL of 4 bytes is cut short"));
  CHECK_THROWS_AS(reader.read_bytes(5), ProtocolError);
  CHECK_THROWS_AS(reader.read_string(), ProtocolError);
  CHECK(reader.remaining() == 4);
  CHECK(reader.read<std::uint32_t>() == 5);
  CHECK_THROWS_AS(reader.read<std::uint8_t>(), ProtocolError);
  CHECK(reader.read_bytes(0).empty());
}

TEST_CASE("a count whose size in bytes overflows is refused") {
  const std::vector<std::byte> bytes(16);
  ByteReader reader(bytes);
  CHECK_THROWS_AS(reader.read_vector<std::uint64_t>(std::numeric_limits<std::size_t>::max() / 8 + 2),
                  ProtocolError);
  CHECK_THROWS_AS(reader.read_bytes(std::numeric_limits<std::size_t>::max()), ProtocolError);
  CHECK(reader.remaining() == 16);
}

TEST_CASE("bytes left over are found") {
  const std::vector<std::byte> bytes(3);
  ByteReader reader(bytes, "answer");
  reader.read<std::uint8_t>();
  CHECK_THROWS_AS(reader.require_end(), ProtocolError);
  CHECK_THROWS_WITH(reader.require_end(), Contains("answer of 3 bytes has 2 bytes more"));
}
