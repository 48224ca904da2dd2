// The part of a checkpoint that one rank has written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/checkpoint/manifest.hpp"

namespace lapse {

// Ranks exchange it. Used by one thread.
class SavedPart {
 public:
  // `file`: within the folder of the checkpoint.
  void set_file(const std::string& file) { file_ = file; }
  const std::string& file() const { return file_; }
  // The same bytes are now in another file, from `offset` instead of 0.
  void move_to(const std::string& file, std::uint64_t offset);
  // `table`: its number in the manifest. The record's file is that of the part.
  void add(std::uint64_t table, const ShardRecord& shard);
  void add_global(const BlobRecord& blob) { add(global_, blob); }
  void add_worker(const BlobRecord& blob) { add(per_worker_, blob); }
  void add_clock(std::int64_t clock) { clocks_.push_back(clock); }

  void append_to(Manifest& manifest) const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& file_& shards_& global_& per_worker_& clocks_;
  }

 private:
  static constexpr std::size_t kNumbersOfShard = 8;
  static constexpr std::size_t kNumbersOfBlob = 3;

  static void add(std::vector<std::uint64_t>& to, const BlobRecord& blob);
  void append(const std::vector<std::uint64_t>& from, std::vector<BlobRecord>& to) const;

  std::string file_;
  // For each shard: table, offset, bytes, entries, first key, last key, checksum, numbers that are not
  // finite.
  std::vector<std::uint64_t> shards_;
  std::vector<std::uint64_t> global_;      // offset, bytes, checksum; or empty
  std::vector<std::uint64_t> per_worker_;  // likewise, by worker
  std::vector<std::int64_t> clocks_;
};

}  // namespace lapse
