// Maps ranks to the files of a checkpoint.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Immutable and equal on all ranks.
class CheckpointFileMap {
 public:
  // The alignment of each rank's part of a file: a page of the disk, so that no two ranks write to one page.
  static constexpr std::uint64_t kAlignment = 4096;

  // `hosts`: for each rank a number of its host. If `choice` is a number, the ranks of a file are
  // consecutive.
  CheckpointFileMap(const CheckpointFiles& choice, std::span<const std::int32_t> hosts);

  std::uint64_t files() const { return files_; }
  std::uint64_t file(Rank rank) const { return file_of_rank_[rank.index()]; }
  // Returns where the part of a rank begins in its file, given the bytes that each rank writes.
  std::uint64_t offset(Rank rank, std::span<const std::uint64_t> bytes_by_rank) const;

  static constexpr std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  std::uint64_t files_ = 0;
  std::vector<std::uint64_t> file_of_rank_;
};

}  // namespace lapse
