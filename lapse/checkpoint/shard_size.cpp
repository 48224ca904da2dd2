#include "lapse/checkpoint/shard_size.hpp"

namespace lapse {

ShardSize::ShardSize(const ShardHeader& header, std::size_t block_bytes)
    : header_bytes_(header.to_bytes().size()),
      row_bytes_(header.uniform() ? sizeof(std::uint64_t) + header.content_bytes() : 0),
      block_bytes_(block_bytes) {}

void ShardSize::add(std::uint64_t content_bytes) {
  ++rows_;
  open_bytes_ += sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t) + content_bytes;
  if (open_bytes_ < block_bytes_) return;
  closed_bytes_ += padded_to_8(open_bytes_);
  ++blocks_;
  open_bytes_ = 0;
}

std::uint64_t ShardSize::bytes() const {
  std::uint64_t blocks = blocks_;
  std::uint64_t bytes = closed_bytes_;
  std::uint64_t rest = open_bytes_;
  if (row_bytes_ != 0) {
    const std::uint64_t rows_of_block = (block_bytes_ + row_bytes_ - 1) / row_bytes_;
    blocks = rows_ / rows_of_block;
    bytes = blocks * padded_to_8(rows_of_block * row_bytes_);
    rest = rows_ % rows_of_block * row_bytes_;
  }
  if (rest != 0) ++blocks;
  return header_bytes_ + bytes + padded_to_8(rest) + blocks * BlockRecord::kBytes + ShardTrailer::kBytes;
}

}  // namespace lapse
