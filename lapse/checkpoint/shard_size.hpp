// Computes the bytes of a shard before it is written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/checkpoint/shard_format.hpp"

namespace lapse {

// Ranks that write to one file use it to agree on where each shard begins. Add the entries that ShardWriter
// gets, in the same order. Used by one thread.
class ShardSize {
 public:
  // Target block size. Small, so that partial loads read little extra.
  static constexpr std::size_t kBlockBytes = std::size_t{128} << 10;

  explicit ShardSize(const ShardHeader& header, std::size_t block_bytes = kBlockBytes);

  // Adds entries whose values have the length of the header.
  void add_rows(std::uint64_t count) { rows_ += count; }
  // Adds an entry with a length of its own, value and state together.
  void add(std::uint64_t content_bytes);
  std::uint64_t entries() const { return rows_; }
  std::uint64_t bytes() const;

 private:
  // constant
  std::uint64_t header_bytes_;
  std::uint64_t row_bytes_;  // with key; 0 if each entry has its own
  std::uint64_t block_bytes_;

  std::uint64_t rows_ = 0;
  // of blocks with lengths of their own
  std::uint64_t blocks_ = 0;
  std::uint64_t closed_bytes_ = 0;
  std::uint64_t open_bytes_ = 0;
};

}  // namespace lapse
