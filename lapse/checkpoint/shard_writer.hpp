// Writes a shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/shard_format.hpp"

namespace lapse {

// What a manifest records of a shard.
struct ShardRecord {
  std::string file;  // within the folder of its checkpoint
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t first_key = 0;  // 0 where there are no entries
  std::uint64_t last_key = 0;
  std::uint64_t index_checksum = 0;

  bool operator==(const ShardRecord&) const = default;
};

// Takes memory for one block. Every call may throw CheckpointError. Used by one thread.
class ShardWriter {
 public:
  // Creates the file and reserves the disk for so many entries with so many bytes of values and states.
  ShardWriter(const std::string& path, ShardHeader header, std::uint64_t entries, std::uint64_t content_bytes,
              std::size_t block_bytes = kBlockBytes);

  // Keys must rise. `content`: value and state, one behind the other, of which `length` elements are the
  // value; where all values have one length, that of the header.
  void add(std::uint64_t key, std::span<const std::byte> content, std::size_t length);
  // Writes the rest; the disk has everything when the call returns. The record's file is the path's last
  // part.
  ShardRecord finish();

  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

 private:
  void write_block();

  ShardHeader header_;
  std::size_t block_bytes_;
  DurableFile file_;
  // of the block that is filled
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> lengths_;  // of values, where each entry has its own; then those of states
  std::vector<std::uint32_t> state_lengths_;
  std::vector<std::byte> content_;
  std::vector<BlockRecord> blocks_;
  std::uint64_t entries_ = 0;
};

}  // namespace lapse
