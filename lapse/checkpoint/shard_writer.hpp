// Writes a shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/shard_format.hpp"
#include "lapse/checkpoint/shard_size.hpp"

namespace lapse {

// What a manifest records of a shard.
struct ShardRecord {
  std::string file;  // within the folder of its checkpoint
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t first_key = 0;  // 0 where there are no entries
  std::uint64_t last_key = 0;
  std::uint64_t index_checksum = 0;
  std::uint64_t not_finite = 0;  // numbers of values and states that are infinite or not a number

  bool operator==(const ShardRecord&) const = default;
};

// Takes memory for one block. Every call may throw CheckpointError. Used by one thread.
class ShardWriter {
 public:
  // The shard begins where the file stands; the file outlives the object.
  ShardWriter(DurableFile& file, ShardHeader header, std::size_t block_bytes = ShardSize::kBlockBytes);

  // Keys must rise. `content`: value and state, one behind the other, of which `length` elements are the
  // value; where all values have one length, that of the header.
  void add(std::uint64_t key, std::span<const std::byte> content, std::size_t length);
  // Consecutive keys, of one length; their values with states are `stride` bytes apart, and stay as they are
  // until the shard is finished.
  void add_rows(std::uint64_t first_key, std::uint64_t count, const std::byte* rows, std::size_t stride);
  // Writes the rest. The record's file is for the caller to fill in.
  ShardRecord finish();

 private:
  // Bytes of values and states, in the buffer or where they are.
  struct Piece {
    const std::byte* outside;  // null: in the buffer
    std::size_t begin;         // in the buffer
    std::size_t bytes;
  };
  // From this size on, what is in one piece is not copied.
  static constexpr std::size_t kOutsideBytes = std::size_t{8} << 10;

  void require_rising(std::uint64_t key) const;
  void append(std::span<const std::byte> bytes, bool stays);
  void write_block();

  ShardHeader header_;
  std::size_t block_bytes_;
  DurableFile& file_;
  std::uint64_t begin_;
  // of the block that is filled
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> lengths_;  // of values, where each entry has its own; then those of states
  std::vector<std::uint32_t> state_lengths_;
  std::vector<std::byte> buffer_;
  std::vector<Piece> pieces_;
  std::size_t content_bytes_ = 0;
  // of the shard
  std::vector<BlockRecord> blocks_;
  std::uint64_t entries_ = 0;
  std::uint64_t not_finite_ = 0;
};

}  // namespace lapse
