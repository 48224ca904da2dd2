#include "lapse/jobs/saved_part.hpp"

namespace lapse {

void SavedPart::move_to(const std::string& file, std::uint64_t offset) {
  file_ = file;
  for (Shard& shard : shards_) shard.record.offset += offset;
  for (std::vector<BlobRecord>* const blobs : {&global_, &per_worker_}) {
    for (BlobRecord& blob : *blobs)
      if (blob.bytes != 0) blob.offset += offset;  // Empty ones stay at 0.
  }
}

void SavedPart::append_to(Manifest& manifest) const {
  const auto in_file = [this](auto record) {
    record.file = file_;
    return record;
  };
  for (const Shard& shard : shards_) manifest.tables.at(shard.table).shards.push_back(in_file(shard.record));
  if (!global_.empty()) manifest.global = in_file(global_.front());
  for (const BlobRecord& blob : per_worker_) manifest.per_worker.push_back(in_file(blob));
  manifest.clocks.insert(manifest.clocks.end(), clocks_.begin(), clocks_.end());
}

}  // namespace lapse
