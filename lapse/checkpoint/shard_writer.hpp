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

// The manifest's record of a shard.
struct ShardRecord {
  std::string file;  // within the folder of its checkpoint
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t first_key = 0;  // 0 if there are no entries
  std::uint64_t last_key = 0;
  std::uint64_t index_checksum = 0;
  std::uint64_t not_finite = 0;  // infinite numbers and NaNs in values and states

  bool operator==(const ShardRecord&) const = default;
};

// Buffers at most one block. Every call may throw CheckpointError. Used by one thread.
class ShardWriter {
 public:
  // The shard begins at the file's position. The file outlives the object.
  ShardWriter(DurableFile& file, ShardHeader header, std::size_t block_bytes = ShardSize::kBlockBytes);

  // Keys must ascend. `content`: value, then state. `length`: elements of the value; if all values have one
  // length, that of the header.
  void add(std::uint64_t key, std::span<const std::byte> content, std::size_t length);
  // Adds consecutive keys of one length. Their values with states are `stride` bytes apart and must not
  // change until the shard is finished.
  void add_rows(std::uint64_t first_key, std::uint64_t count, const std::byte* rows, std::size_t stride);
  // Writes the rest. The caller sets the record's file.
  ShardRecord finish();

 private:
  // Bytes of values and states, in the buffer or in the caller's memory.
  struct Piece {
    const std::byte* outside;  // null if in the buffer
    std::size_t begin;         // in the buffer
    std::size_t bytes;
  };
  // A contiguous piece of this size or more is not copied.
  static constexpr std::size_t kOutsideBytes = std::size_t{8} << 10;

  void require_rising(std::uint64_t key) const;
  void append(std::span<const std::byte> bytes, bool stays);
  void write_block();

  ShardHeader header_;
  std::size_t block_bytes_;
  DurableFile& file_;
  std::uint64_t begin_;
  // of the current block
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> lengths_;  // of values, if each entry has its own; states follow
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
