#include "lapse/checkpoint/shard_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/core/bytes.hpp"

namespace lapse {

namespace {

using Reason = CheckpointError::Reason;

// Only a program that writes wrong shards with right checksums can cause it.
[[noreturn]] void refuse_block(const BlockRecord& record, const std::string& file) {
  throw CheckpointError(Reason::damaged, file,
                        fmt::format("the block at byte {} contradicts itself", record.offset));
}

}  // namespace

// --- block

ShardBlock::ShardBlock(const ShardHeader& header, const BlockRecord& record, std::vector<std::byte> bytes,
                       const std::string& file)
    : element_bytes_(element_bytes(header.element)), length_(header.length), bytes_(std::move(bytes)) {
  if (record.entries > bytes_.size() / sizeof(std::uint64_t)) refuse_block(record, file);
  const std::size_t entries = record.entries;
  ByteReader reader(bytes_);
  keys_ = reader.read_vector<std::uint64_t>(entries);
  std::vector<std::uint32_t> states;
  if (!header.uniform()) {
    if (reader.remaining() / 8 < entries) refuse_block(record, file);
    lengths_ = reader.read_vector<std::uint32_t>(entries);
    states = reader.read_vector<std::uint32_t>(entries);
  }
  std::size_t at = bytes_.size() - reader.remaining();
  offsets_.reserve(entries + 1);
  for (std::size_t i = 0; i < entries; ++i) {
    offsets_.push_back(at);
    const std::uint64_t content =
        header.uniform() ? header.content_bytes() : (std::uint64_t{lengths_[i]} + states[i]) * element_bytes_;
    if (content > bytes_.size() - at) refuse_block(record, file);
    at += content;
  }
  offsets_.push_back(at);
  const bool rising = std::ranges::adjacent_find(keys_, std::ranges::greater_equal()) == keys_.end();
  if (!rising || keys_.front() != record.first_key || keys_.back() != record.last_key ||
      padded_to_8(at) != bytes_.size())
    refuse_block(record, file);
}

ShardEntry ShardBlock::entry(std::size_t i) const {
  const std::span<const std::byte> both = content(i);
  const std::size_t value_bytes = length(i) * element_bytes_;
  return {.key = keys_[i], .value = both.first(value_bytes), .state = both.subspan(value_bytes)};
}

// --- shard

ShardReader::ShardReader(const std::string& path) : file_(path), bytes_(file_.bytes()) {
  read_header();
  read_trailer();
  read_index();
}

ShardReader::ShardReader(const std::string& path, const ShardRecord& expected, std::uint64_t checkpoint)
    : file_(path), begin_(expected.offset), bytes_(expected.bytes) {
  read_header();
  if (header_.checkpoint != checkpoint) {
    throw CheckpointError(
        Reason::foreign, path,
        fmt::format("belongs to checkpoint {:016x}, expected {:016x}", header_.checkpoint, checkpoint));
  }
  read_trailer();
  if (trailer_.index_checksum != expected.index_checksum || trailer_.entries != expected.entries)
    throw CheckpointError(Reason::foreign, path,
                          fmt::format("has another shard at byte {} than the manifest lists", begin_));
  read_index();
}

void ShardReader::read_header() {
  const std::uint64_t there = begin_ < file_.bytes() ? std::min(file_.bytes() - begin_, bytes_) : 0;
  if (there == 0 && begin_ != 0) {
    throw CheckpointError(Reason::truncated, file_.path(),
                          fmt::format("has {} bytes, expected a shard at byte {}", file_.bytes(), begin_));
  }
  const auto beginning = file_.read(begin_, std::min<std::uint64_t>(there, ShardHeader::kFixedBytes));
  const std::size_t header_bytes = ShardHeader::size_of(beginning, file_.path());
  if (there < bytes_ || bytes_ < header_bytes + ShardTrailer::kBytes) {
    throw CheckpointError(Reason::truncated, file_.path(),
                          fmt::format("has {} bytes of a shard of {}", there, bytes_));
  }
  header_ = ShardHeader::from_bytes(file_.read(begin_, header_bytes), file_.path());
}

void ShardReader::read_trailer() {
  trailer_ = ShardTrailer::from_bytes(
      file_.read(begin_ + bytes_ - ShardTrailer::kBytes, ShardTrailer::kBytes), file_.path());
  if (trailer_.bytes != bytes_ || trailer_.checkpoint != header_.checkpoint) {
    throw CheckpointError(
        Reason::damaged, file_.path(),
        fmt::format("has a shard of {} bytes with a trailer for {} bytes", bytes_, trailer_.bytes));
  }
}

void ShardReader::refuse_index() const {
  throw CheckpointError(Reason::damaged, file_.path(), "has an index that contradicts itself");
}

void ShardReader::read_index() {
  const std::uint64_t end = bytes_ - ShardTrailer::kBytes;
  if (trailer_.index_offset > end || trailer_.blocks > end / BlockRecord::kBytes ||
      end - trailer_.index_offset != trailer_.blocks * BlockRecord::kBytes)
    refuse_index();
  const std::vector<std::byte> index =
      file_.read(begin_ + trailer_.index_offset, trailer_.blocks * BlockRecord::kBytes);
  if (checksum(index) != trailer_.index_checksum)
    throw CheckpointError(Reason::damaged, file_.path(), "the checksum of its index differs");
  ByteReader reader(index);
  std::uint64_t offset = header_.to_bytes().size();
  std::uint64_t entries = 0;
  for (std::uint64_t i = 0; i < trailer_.blocks; ++i) {
    BlockRecord block;
    for (std::uint64_t* const number :
         {&block.first_key, &block.last_key, &block.entries, &block.offset, &block.bytes, &block.checksum})
      *number = reader.read<std::uint64_t>();
    if (block.offset != offset || block.bytes > trailer_.index_offset - offset || block.bytes % 8 != 0 ||
        block.entries == 0 || block.entries > block.bytes / 8 || block.first_key > block.last_key ||
        (!blocks_.empty() && block.first_key <= blocks_.back().last_key))
      refuse_index();
    offset += block.bytes;
    entries += block.entries;
    blocks_.push_back(block);
  }
  if (offset != trailer_.index_offset || entries != trailer_.entries) refuse_index();
}

ShardBlock ShardReader::read(const BlockRecord& block) const {
  std::vector<std::byte> bytes = file_.read(begin_ + block.offset, block.bytes);
  if (checksum(bytes) != block.checksum) {
    throw CheckpointError(Reason::damaged, file_.path(),
                          fmt::format("the checksum of the block at byte {} (keys {} to {}) differs",
                                      begin_ + block.offset, block.first_key, block.last_key));
  }
  return ShardBlock(header_, block, std::move(bytes), file_.path());
}

}  // namespace lapse
