// The part of a checkpoint that one rank has written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/checkpoint/manifest.hpp"

namespace lapse {

// Records in archives, without their file, which is that of the part.
template <class Archive>
void serialize(Archive& archive, ShardRecord& shard, unsigned) {
  archive& shard.offset& shard.bytes& shard.entries& shard.first_key& shard.last_key& shard
      .index_checksum& shard.not_finite;
}
template <class Archive>
void serialize(Archive& archive, BlobRecord& blob, unsigned) {
  archive& blob.offset& blob.bytes& blob.checksum;
}

// Ranks exchange it. Used by one thread.
class SavedPart {
 public:
  // `file`: within the folder of the checkpoint.
  void set_file(const std::string& file) { file_ = file; }
  const std::string& file() const { return file_; }
  // The same bytes are now in another file, from `offset` instead of 0.
  void move_to(const std::string& file, std::uint64_t offset);
  // `table`: its number in the manifest. The record's file is that of the part.
  void add(std::uint64_t table, const ShardRecord& shard) { shards_.push_back({table, shard}); }
  void add_global(const BlobRecord& blob) { global_.push_back(blob); }
  void add_worker(const BlobRecord& blob) { per_worker_.push_back(blob); }
  void add_clock(std::int64_t clock) { clocks_.push_back(clock); }

  void append_to(Manifest& manifest) const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& file_& shards_& global_& per_worker_& clocks_;
  }

 private:
  struct Shard {
    std::uint64_t table = 0;
    ShardRecord record;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& table& record;
    }
  };

  std::string file_;
  std::vector<Shard> shards_;
  std::vector<BlobRecord> global_;  // at most one
  std::vector<BlobRecord> per_worker_;
  std::vector<std::int64_t> clocks_;
};

}  // namespace lapse
