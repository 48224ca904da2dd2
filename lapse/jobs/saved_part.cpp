#include "lapse/jobs/saved_part.hpp"

namespace lapse {

void SavedPart::add(std::uint64_t table, const ShardRecord& shard) {
  for (const std::uint64_t number : {table, shard.offset, shard.bytes, shard.entries, shard.first_key,
                                     shard.last_key, shard.index_checksum, shard.not_finite})
    shards_.push_back(number);
}

void SavedPart::add(std::vector<std::uint64_t>& to, const BlobRecord& blob) {
  for (const std::uint64_t number : {blob.offset, blob.bytes, blob.checksum}) to.push_back(number);
}

void SavedPart::append(const std::vector<std::uint64_t>& from, std::vector<BlobRecord>& to) const {
  for (std::size_t i = 0; i + kNumbersOfBlob <= from.size(); i += kNumbersOfBlob)
    to.push_back({.file = file_, .offset = from[i], .bytes = from[i + 1], .checksum = from[i + 2]});
}

void SavedPart::move_to(const std::string& file, std::uint64_t offset) {
  file_ = file;
  for (std::size_t i = 1; i < shards_.size(); i += kNumbersOfShard) shards_[i] += offset;
  for (std::vector<std::uint64_t>* const blobs : {&global_, &per_worker_}) {
    for (std::size_t i = 0; i + 1 < blobs->size(); i += kNumbersOfBlob)
      if ((*blobs)[i + 1] != 0) (*blobs)[i] += offset;  // Empty ones stay at 0.
  }
}

void SavedPart::append_to(Manifest& manifest) const {
  for (std::size_t i = 0; i + kNumbersOfShard <= shards_.size(); i += kNumbersOfShard) {
    const std::uint64_t* const number = &shards_[i];
    manifest.tables.at(number[0]).shards.push_back({.file = file_,
                                                    .offset = number[1],
                                                    .bytes = number[2],
                                                    .entries = number[3],
                                                    .first_key = number[4],
                                                    .last_key = number[5],
                                                    .index_checksum = number[6],
                                                    .not_finite = number[7]});
  }
  std::vector<BlobRecord> global;
  append(global_, global);
  if (!global.empty()) manifest.global = global.front();
  append(per_worker_, manifest.per_worker);
  manifest.clocks.insert(manifest.clocks.end(), clocks_.begin(), clocks_.end());
}

}  // namespace lapse
