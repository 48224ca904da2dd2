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

// The cause can only be a program that writes invalid shards with valid checksums.
[[noreturn]] void refuse_block(const BlockRecord& record, const std::string& file) {
  throw CheckpointError(Reason::damaged, file,
                        fmt::format("the block at byte {} contradicts itself", record.offset));
}

}  // namespace

// --- block

std::span<std::byte> ShardBlock::room(std::size_t bytes) {
  if (bytes > capacity_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    capacity_ = bytes;
  }
  const std::span<std::byte> room(memory_.get(), bytes);
  bytes_ = room;
  return room;
}

void ShardBlock::parse(const ShardHeader& header, const BlockRecord& record, const std::string& file) {
  element_bytes_ = element_bytes(header.element);
  length_ = header.length;
  row_bytes_ = header.content_bytes();
  const std::size_t entries = record.entries;
  if (entries > bytes_.size() / sizeof(std::uint64_t)) refuse_block(record, file);
  // The memory is aligned and begins with the keys.
  keys_ = {reinterpret_cast<const std::uint64_t*>(bytes_.data()), entries};
  ByteReader reader(bytes_.subspan(entries * sizeof(std::uint64_t)));
  std::size_t content_bytes = 0;
  if (header.uniform()) {
    if (reader.remaining() / row_bytes_ < entries) refuse_block(record, file);
    content_bytes = entries * row_bytes_;
  } else {
    if (reader.remaining() / 8 < entries) refuse_block(record, file);
    lengths_ = reader.read_vector<std::uint32_t>(entries);
    const auto states = reader.read_vector<std::uint32_t>(entries);
    offsets_.clear();
    for (std::size_t i = 0; i < entries; ++i) {
      offsets_.push_back(content_bytes);
      content_bytes += (std::size_t{lengths_[i]} + states[i]) * element_bytes_;
      if (content_bytes > reader.remaining()) refuse_block(record, file);
    }
    offsets_.push_back(content_bytes);
  }
  const std::size_t begin = bytes_.size() - reader.remaining();
  rows_ = bytes_.data() + begin;
  const bool rising = std::ranges::adjacent_find(keys_, std::ranges::greater_equal()) == keys_.end();
  if (!rising || keys_.front() != record.first_key || keys_.back() != record.last_key ||
      padded_to_8(begin + content_bytes) != bytes_.size())
    refuse_block(record, file);
}

ShardEntry ShardBlock::entry(std::size_t i) const {
  const std::span<const std::byte> both = content(i);
  const std::size_t value_bytes = length(i) * element_bytes_;
  return {.key = keys_[i], .value = both.first(value_bytes), .state = both.subspan(value_bytes)};
}

// --- shard

ShardReader::ShardReader(const std::string& path)
    : file_(std::make_shared<const ReadableFile>(path)), path_(path), bytes_(file_->bytes()) {
  read_header(std::nullopt);
  read_trailer();
  read_index();
}

ShardReader::ShardReader(const std::string& path, const ShardRecord& expected, std::uint64_t checkpoint)
    : ShardReader(std::make_shared<const ReadableFile>(path), expected, checkpoint) {}

ShardReader::ShardReader(std::shared_ptr<const ReadableFile> file, const ShardRecord& expected,
                         std::uint64_t checkpoint)
    : file_(std::move(file)), path_(file_->path()), begin_(expected.offset), bytes_(expected.bytes) {
  read_header(checkpoint);
  if (header_.checkpoint != checkpoint)
    ShardHeader::refuse_other_checkpoint(header_.checkpoint, checkpoint, path_);
  read_trailer();
  if (trailer_.index_checksum != expected.index_checksum || trailer_.entries != expected.entries)
    throw CheckpointError(Reason::foreign, path_,
                          fmt::format("has another shard at byte {} than the manifest lists", begin_));
  read_index();
}

void ShardReader::read_header(std::optional<std::uint64_t> checkpoint) {
  const std::uint64_t there = begin_ < file_->bytes() ? std::min(file_->bytes() - begin_, bytes_) : 0;
  if (there == 0 && begin_ != 0) {
    throw CheckpointError(Reason::truncated, path_,
                          fmt::format("has {} bytes, expected a shard at byte {}", file_->bytes(), begin_));
  }
  const auto beginning = file_->read(begin_, std::min<std::uint64_t>(there, ShardHeader::kFixedBytes));
  const std::size_t header_bytes = checkpoint
                                       ? ShardHeader::size_of_listed(beginning, path_, begin_, *checkpoint)
                                       : ShardHeader::size_of(beginning, path_);
  const bool has_room = bytes_ >= header_bytes + ShardTrailer::kBytes;
  if (checkpoint && there == bytes_ && !has_room) {
    throw CheckpointError(Reason::damaged, path_,
                          fmt::format("has a damaged header at byte {}: {} bytes of header in a shard of {}",
                                      begin_, header_bytes, bytes_));
  }
  if (there < bytes_ || !has_room) {
    throw CheckpointError(Reason::truncated, path_,
                          fmt::format("has {} bytes of a shard of {}", there, bytes_));
  }
  header_ = ShardHeader::from_bytes(file_->read(begin_, header_bytes), path_);
}

void ShardReader::read_trailer() {
  trailer_ = ShardTrailer::from_bytes(
      file_->read(begin_ + bytes_ - ShardTrailer::kBytes, ShardTrailer::kBytes), path_, header_.checkpoint);
  if (trailer_.bytes != bytes_ || trailer_.checkpoint != header_.checkpoint) {
    throw CheckpointError(
        Reason::damaged, path_,
        fmt::format("has a shard of {} bytes with a trailer for {} bytes", bytes_, trailer_.bytes));
  }
}

void ShardReader::refuse_index() const {
  throw CheckpointError(Reason::damaged, path_, "has an index that contradicts itself");
}

void ShardReader::read_index() {
  const std::uint64_t end = bytes_ - ShardTrailer::kBytes;
  if (trailer_.index_offset > end || trailer_.blocks > end / BlockRecord::kBytes ||
      end - trailer_.index_offset != trailer_.blocks * BlockRecord::kBytes)
    refuse_index();
  const std::vector<std::byte> index =
      file_->read(begin_ + trailer_.index_offset, trailer_.blocks * BlockRecord::kBytes);
  if (checksum(index) != trailer_.index_checksum)
    throw CheckpointError(Reason::damaged, path_, "the checksum of its index differs");
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

void ShardReader::read(const BlockRecord& record, ShardBlock& block) const {
  const std::span<std::byte> bytes = block.room(record.bytes);
  file_->read(begin_ + record.offset, bytes);
  if (checksum(bytes) != record.checksum) {
    throw CheckpointError(Reason::damaged, path_,
                          fmt::format("the checksum of the block at byte {} (keys {} to {}) differs",
                                      begin_ + record.offset, record.first_key, record.last_key));
  }
  block.parse(header_, record, path_);
}

}  // namespace lapse
