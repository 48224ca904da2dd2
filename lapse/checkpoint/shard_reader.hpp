// Reads a shard, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/shard_format.hpp"
#include "lapse/checkpoint/shard_writer.hpp"

namespace lapse {

// The entries of one block, by ascending keys. Reading another block into the object reuses its memory.
class ShardBlock {
 public:
  std::size_t size() const { return keys_.size(); }
  std::span<const std::uint64_t> keys() const { return keys_; }
  // Returns value, then state.
  std::span<const std::byte> content(std::size_t i) const {
    if (length_ != 0) return {rows_ + i * row_bytes_, row_bytes_};
    return {rows_ + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  // Returns the number of elements of the value.
  std::size_t length(std::size_t i) const { return length_ != 0 ? length_ : lengths_[i]; }
  ShardEntry entry(std::size_t i) const;

 private:
  friend class ShardReader;

  // Returns uninitialized space for a block.
  std::span<std::byte> room(std::size_t bytes);
  // Finds the entries in the block that was read, whose checksum is that of the record. Throws
  // CheckpointError, naming `file`, if it is no valid block.
  void parse(const ShardHeader& header, const BlockRecord& record, const std::string& file);

  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::span<const std::byte> bytes_;
  std::size_t element_bytes_ = 0;
  std::size_t length_ = 0;     // 0 if each entry has its own
  std::size_t row_bytes_ = 0;  // if lengths are equal
  std::span<const std::uint64_t> keys_;
  const std::byte* rows_ = nullptr;
  // if each entry has its own length
  std::vector<std::uint32_t> lengths_;
  std::vector<std::size_t> offsets_;  // of contents; one more than there are keys
};

// Checks what it reads: returns a value as it was written, or not at all. Every call may throw
// CheckpointError. Thread safety: any thread.
class ShardReader {
 public:
  // Reads header, index and trailer of a file that is one shard.
  explicit ShardReader(const std::string& path);
  // Reads a shard in a file, and compares it with the record in the manifest of checkpoint `checkpoint`.
  ShardReader(const std::string& path, const ShardRecord& expected, std::uint64_t checkpoint);
  ShardReader(std::shared_ptr<const ReadableFile> file, const ShardRecord& expected,
              std::uint64_t checkpoint);

  const ShardHeader& header() const { return header_; }
  std::span<const BlockRecord> blocks() const { return blocks_; }
  std::uint64_t entries() const { return trailer_.entries; }
  const std::string& path() const { return path_; }

  // Between detach and attach no block can be read, and the object keeps no file open.
  void detach() { file_.reset(); }
  void attach(std::shared_ptr<const ReadableFile> file) { file_ = std::move(file); }

  void read(const BlockRecord& record, ShardBlock& block) const;
  ShardBlock read(const BlockRecord& record) const {
    ShardBlock block;
    read(record, block);
    return block;
  }

 private:
  // `checkpoint`: the number in the manifest that lists the shard, if any.
  void read_header(std::optional<std::uint64_t> checkpoint);
  void read_trailer();
  void read_index();
  [[noreturn]] void refuse_index() const;

  std::shared_ptr<const ReadableFile> file_;
  std::string path_;
  std::uint64_t begin_ = 0;  // in the file
  std::uint64_t bytes_;
  ShardHeader header_;
  ShardTrailer trailer_;
  std::vector<BlockRecord> blocks_;
};

}  // namespace lapse
