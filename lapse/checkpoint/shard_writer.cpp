#include "lapse/checkpoint/shard_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "lapse/checkpoint/checksum.hpp"
#include "lapse/core/bytes.hpp"
#include "lapse/core/error.hpp"

namespace lapse {

namespace {

// Of the whole file; at most what it will have.
std::uint64_t file_bytes(const ShardHeader& header, std::uint64_t entries, std::uint64_t content_bytes,
                         std::size_t block_bytes) {
  const std::uint64_t entry_bytes =
      sizeof(std::uint64_t) + (header.uniform() ? 0 : 2 * sizeof(std::uint32_t));
  const std::uint64_t bytes = entries * entry_bytes + content_bytes;
  const std::uint64_t blocks = std::min(entries, bytes / block_bytes + 1);
  return header.to_bytes().size() + bytes + blocks * (BlockRecord::kBytes + 8) + ShardTrailer::kBytes;
}

}  // namespace

ShardWriter::ShardWriter(const std::string& path, ShardHeader header, std::uint64_t entries,
                         std::uint64_t content_bytes, std::size_t block_bytes)
    : header_(std::move(header)), block_bytes_(block_bytes), file_(path) {
  file_.reserve(file_bytes(header_, entries, content_bytes, block_bytes_));
  file_.write(header_.to_bytes());
}

void ShardWriter::add(std::uint64_t key, std::span<const std::byte> content, std::size_t length) {
  const std::uint64_t last = !keys_.empty() ? keys_.back() : !blocks_.empty() ? blocks_.back().last_key : 0;
  if (entries_ != 0 && key <= last)
    throw UsageError(fmt::format("{}: key {} behind key {}: keys must rise", file_.path(), key, last));
  keys_.push_back(key);
  if (!header_.uniform()) {
    lengths_.push_back(static_cast<std::uint32_t>(length));
    state_lengths_.push_back(
        static_cast<std::uint32_t>(content.size() / element_bytes(header_.element) - length));
  } else if (content.size() != header_.content_bytes()) {
    throw UsageError(fmt::format("{}: key {} has {} bytes of value and state, expected {}", file_.path(), key,
                                 content.size(), header_.content_bytes()));
  }
  content_.insert(content_.end(), content.begin(), content.end());
  ++entries_;
  const std::size_t bytes = content_.size() + keys_.size() * sizeof(std::uint64_t) +
                            (lengths_.size() + state_lengths_.size()) * sizeof(std::uint32_t);
  if (bytes >= block_bytes_) write_block();
}

void ShardWriter::write_block() {
  if (keys_.empty()) return;
  std::vector<std::byte> block;
  block.reserve(content_.size() + keys_.size() * 16 + 8);
  ByteWriter writer(block);
  writer.write_all(std::span<const std::uint64_t>(keys_));
  writer.write_all(std::span<const std::uint32_t>(lengths_));
  writer.write_all(std::span<const std::uint32_t>(state_lengths_));
  writer.write_all(std::span<const std::byte>(content_));
  block.resize(padded_to_8(block.size()));
  blocks_.push_back({.first_key = keys_.front(),
                     .last_key = keys_.back(),
                     .entries = keys_.size(),
                     .offset = file_.written(),
                     .bytes = block.size(),
                     .checksum = checksum(block)});
  file_.write(block);
  keys_.clear();
  lengths_.clear();
  state_lengths_.clear();
  content_.clear();
}

ShardRecord ShardWriter::finish() {
  write_block();
  std::vector<std::byte> index;
  ByteWriter writer(index);
  for (const BlockRecord& block : blocks_) {
    for (const std::uint64_t number :
         {block.first_key, block.last_key, block.entries, block.offset, block.bytes, block.checksum})
      writer.write(number);
  }
  ShardTrailer trailer;
  trailer.checkpoint = header_.checkpoint;
  trailer.entries = entries_;
  trailer.blocks = blocks_.size();
  trailer.index_offset = file_.written();
  trailer.index_checksum = checksum(index);
  trailer.file_bytes = file_.written() + index.size() + ShardTrailer::kBytes;
  file_.write(index);
  file_.write(trailer.to_bytes());
  file_.finish();
  return {.file = std::filesystem::path(file_.path()).filename().string(),
          .bytes = trailer.file_bytes,
          .entries = entries_,
          .first_key = blocks_.empty() ? 0 : blocks_.front().first_key,
          .last_key = blocks_.empty() ? 0 : blocks_.back().last_key,
          .index_checksum = trailer.index_checksum};
}

}  // namespace lapse
