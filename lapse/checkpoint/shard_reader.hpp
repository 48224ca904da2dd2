// Reads a shard, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/shard_format.hpp"
#include "lapse/checkpoint/shard_writer.hpp"

namespace lapse {

// The entries of one block, in rising order of keys.
class ShardBlock {
 public:
  // `bytes` have the checksum of the record. Throws CheckpointError, as `file`, where they are no block.
  ShardBlock(const ShardHeader& header, const BlockRecord& record, std::vector<std::byte> bytes,
             const std::string& file);

  std::size_t size() const { return keys_.size(); }
  std::span<const std::uint64_t> keys() const { return keys_; }
  // Value and state, one behind the other.
  std::span<const std::byte> content(std::size_t i) const {
    return std::span<const std::byte>(bytes_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  // Elements of the value.
  std::size_t length(std::size_t i) const { return length_ != 0 ? length_ : lengths_[i]; }
  ShardEntry entry(std::size_t i) const;

 private:
  std::size_t element_bytes_;
  std::size_t length_;
  std::vector<std::byte> bytes_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::size_t> offsets_;  // of contents; one more than there are keys
};

// What is read is checked: a value is returned as it was written, or not at all. Every call throws
// CheckpointError. Thread safety: any thread.
class ShardReader {
 public:
  // Reads header, index and trailer of a file that is one shard.
  explicit ShardReader(const std::string& path);
  // Of a shard in a file, compared with what the manifest of checkpoint number `checkpoint` records.
  ShardReader(const std::string& path, const ShardRecord& expected, std::uint64_t checkpoint);

  const ShardHeader& header() const { return header_; }
  std::span<const BlockRecord> blocks() const { return blocks_; }
  std::uint64_t entries() const { return trailer_.entries; }
  const std::string& path() const { return file_.path(); }

  ShardBlock read(const BlockRecord& block) const;

 private:
  void read_header();
  void read_trailer();
  void read_index();
  [[noreturn]] void refuse_index() const;

  ReadableFile file_;
  std::uint64_t begin_ = 0;  // in the file
  std::uint64_t bytes_;
  ShardHeader header_;
  ShardTrailer trailer_;
  std::vector<BlockRecord> blocks_;
};

}  // namespace lapse
