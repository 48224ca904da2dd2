#include "lapse/checkpoint/shard_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/finite.hpp"
#include "lapse/core/bytes.hpp"
#include "lapse/core/error.hpp"

namespace lapse {

ShardWriter::ShardWriter(DurableFile& file, ShardHeader header, std::size_t block_bytes)
    : header_(std::move(header)), block_bytes_(block_bytes), file_(file), begin_(file.position()) {
  file_.write(header_.to_bytes());
}

void ShardWriter::require_rising(std::uint64_t key) const {
  const std::uint64_t last = !keys_.empty() ? keys_.back() : !blocks_.empty() ? blocks_.back().last_key : 0;
  if (entries_ != 0 && key <= last)
    throw UsageError(fmt::format("{}: key {} behind key {}: keys must rise", file_.path(), key, last));
}

void ShardWriter::append(std::span<const std::byte> bytes, bool stays) {
  content_bytes_ += bytes.size();
  not_finite_ += count_not_finite(bytes, header_.element);
  if (stays && bytes.size() >= kOutsideBytes) {
    pieces_.push_back({.outside = bytes.data(), .begin = 0, .bytes = bytes.size()});
    return;
  }
  if (pieces_.empty() || pieces_.back().outside != nullptr)
    pieces_.push_back({.outside = nullptr, .begin = buffer_.size(), .bytes = 0});
  pieces_.back().bytes += bytes.size();
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void ShardWriter::add(std::uint64_t key, std::span<const std::byte> content, std::size_t length) {
  require_rising(key);
  if (!header_.uniform()) {
    lengths_.push_back(static_cast<std::uint32_t>(length));
    state_lengths_.push_back(
        static_cast<std::uint32_t>(content.size() / element_bytes(header_.element) - length));
  } else if (content.size() != header_.content_bytes()) {
    throw UsageError(fmt::format("{}: key {} has {} bytes of value and state, expected {}", file_.path(), key,
                                 content.size(), header_.content_bytes()));
  }
  keys_.push_back(key);
  append(content, false);
  ++entries_;
  const std::size_t bytes = content_bytes_ + keys_.size() * sizeof(std::uint64_t) +
                            (lengths_.size() + state_lengths_.size()) * sizeof(std::uint32_t);
  if (bytes >= block_bytes_) write_block();
}

void ShardWriter::add_rows(std::uint64_t first_key, std::uint64_t count, const std::byte* rows,
                           std::size_t stride) {
  if (count == 0) return;
  require_rising(first_key);
  const std::size_t content_bytes = header_.content_bytes();
  const std::size_t rows_of_block =
      (block_bytes_ + sizeof(std::uint64_t) + content_bytes - 1) / (sizeof(std::uint64_t) + content_bytes);
  while (count != 0) {
    const std::size_t now = std::min<std::uint64_t>(count, rows_of_block - keys_.size());
    for (std::size_t i = 0; i < now; ++i) keys_.push_back(first_key + i);
    if (stride == content_bytes) {
      append(std::span(rows, now * content_bytes), true);
    } else {
      for (std::size_t i = 0; i < now; ++i) append(std::span(rows + i * stride, content_bytes), true);
    }
    entries_ += now;
    first_key += now;
    count -= now;
    rows += now * stride;
    if (keys_.size() == rows_of_block) write_block();
  }
}

void ShardWriter::write_block() {
  if (keys_.empty()) return;
  static constexpr std::array<std::byte, 8> kZeros{};
  std::vector<std::span<const std::byte>> all{std::as_bytes(std::span(keys_)),
                                              std::as_bytes(std::span(lengths_)),
                                              std::as_bytes(std::span(state_lengths_))};
  std::size_t bytes = content_bytes_;
  for (const auto& part : all) bytes += part.size();
  for (const Piece& piece : pieces_) {
    all.push_back(piece.outside != nullptr
                      ? std::span(piece.outside, piece.bytes)
                      : std::span<const std::byte>(buffer_).subspan(piece.begin, piece.bytes));
  }
  all.push_back(std::span(kZeros).first(padded_to_8(bytes) - bytes));
  blocks_.push_back({.first_key = keys_.front(),
                     .last_key = keys_.back(),
                     .entries = keys_.size(),
                     .offset = file_.position() - begin_,
                     .bytes = padded_to_8(bytes),
                     .checksum = checksum(all)});
  file_.write(all);
  keys_.clear();
  lengths_.clear();
  state_lengths_.clear();
  buffer_.clear();
  pieces_.clear();
  content_bytes_ = 0;
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
  trailer.index_offset = file_.position() - begin_;
  trailer.index_checksum = checksum(index);
  trailer.bytes = trailer.index_offset + index.size() + ShardTrailer::kBytes;
  file_.write(index);
  file_.write(trailer.to_bytes());
  return {.file = {},
          .offset = begin_,
          .bytes = trailer.bytes,
          .entries = entries_,
          .first_key = blocks_.empty() ? 0 : blocks_.front().first_key,
          .last_key = blocks_.empty() ? 0 : blocks_.back().last_key,
          .index_checksum = trailer.index_checksum,
          .not_finite = not_finite_};
}

}  // namespace lapse
