// The layout of a shard: a part of the keys of one table. A file has one or more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapse {

// docs/checkpoint-format.md describes it for other programs. Everything is little-endian.
//
//     | header | block 0 | block 1 | … | index | trailer |
//
// Every byte is covered by one checksum: that of the header, of its block, of the index (in the trailer) or
// of the trailer. The manifest has the checksum of the index, too, and so vouches for every byte except those
// of the header, which has the number of its checkpoint.

// The element types of tables. The numbers are part of the format.
enum class CheckpointElement : std::uint8_t { float32 = 1, float64 = 2, int32 = 3, int64 = 4 };

constexpr std::size_t element_bytes(CheckpointElement element) {
  return element == CheckpointElement::float32 || element == CheckpointElement::int32 ? 4 : 8;
}
// Returns a name such as "float32".
std::string_view element_name(CheckpointElement element);
std::optional<CheckpointElement> element_of(std::string_view name);

struct ShardHeader {
  //     | magic 8 | version 4 | header bytes 4 | checkpoint 8 | length 8 | state elements 8 |
  //     | element 1 | zero 3 | name bytes 4 | name, padded with zeros to 8 bytes | checksum 8 |
  static constexpr std::string_view kMagic = "LAPSESHD";
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kFixedBytes = 48;
  static constexpr std::size_t kMaxNameBytes = 65536;

  std::uint64_t checkpoint = 0;
  std::string table;
  CheckpointElement element = CheckpointElement::float32;
  std::uint64_t length = 0;          // elements of every value; 0 if each entry has its own
  std::uint64_t state_elements = 0;  // beside every value; 0 if each entry has its own

  bool uniform() const { return length != 0; }
  std::uint64_t content_bytes() const { return (length + state_elements) * element_bytes(element); }
  bool operator==(const ShardHeader&) const = default;

  std::vector<std::byte> to_bytes() const;
  // `bytes`: the beginning of the shard, at least the header. Throws CheckpointError, naming `file`.
  static ShardHeader from_bytes(std::span<const std::byte> bytes, const std::string& file);
  // Returns the size of the header that begins with these kFixedBytes.
  static std::size_t size_of(std::span<const std::byte> beginning, const std::string& file);
  // The same for a shard at byte `offset` of a file that the manifest of this checkpoint lists. This library
  // reads the manifest's version, so it expects no later one: a difference means damage, or a file of another
  // checkpoint.
  static std::size_t size_of_listed(std::span<const std::byte> beginning, const std::string& file,
                                    std::uint64_t offset, std::uint64_t checkpoint);
  [[noreturn]] static void refuse_other_checkpoint(std::uint64_t found, std::uint64_t expected,
                                                   const std::string& file);
};

struct BlockRecord {
  static constexpr std::size_t kBytes = 48;

  std::uint64_t first_key = 0;
  std::uint64_t last_key = 0;
  std::uint64_t entries = 0;  // at least 1
  std::uint64_t offset = 0;   // in the shard
  std::uint64_t bytes = 0;    // a multiple of 8
  std::uint64_t checksum = 0;
};

struct ShardTrailer {
  //     | magic 8 | checkpoint 8 | entries 8 | blocks 8 | index offset 8 | index checksum 8 | bytes 8 |
  //     | checksum 8 |
  static constexpr std::string_view kMagic = "LAPSEEND";
  static constexpr std::size_t kBytes = 64;

  std::uint64_t checkpoint = 0;
  std::uint64_t entries = 0;
  std::uint64_t blocks = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t index_checksum = 0;
  std::uint64_t bytes = 0;  // of the shard

  std::vector<std::byte> to_bytes() const;
  // `checkpoint`: that of the header. Throws CheckpointError, naming `file`.
  static ShardTrailer from_bytes(std::span<const std::byte> bytes, const std::string& file,
                                 std::uint64_t checkpoint);
};

// One entry of a block, which owns the bytes.
struct ShardEntry {
  std::uint64_t key = 0;
  std::span<const std::byte> value;
  std::span<const std::byte> state;
};

constexpr std::uint64_t padded_to_8(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

}  // namespace lapse
