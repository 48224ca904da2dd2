#include "lapse/ps/checkpoint_loader.hpp"

#include <fmt/format.h>

#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse {

namespace {

// The first byte of a rank's part, written so that no product overflows.
std::uint64_t share_begin(std::uint64_t bytes, std::uint64_t rank, std::uint64_t ranks) {
  return bytes / ranks * rank + bytes % ranks * rank / ranks;
}

}  // namespace

void CheckpointLoader::open(const CheckpointTable& table, const TableRecord& record) {
  const std::uint64_t all = record.bytes();
  const auto ranks = static_cast<std::uint64_t>(ranks_);
  const std::uint64_t begin = share_begin(all, rank_.index(), ranks);
  const std::uint64_t end = share_begin(all, rank_.index() + 1, ranks);
  std::uint64_t shard_begin = 0;
  for (const ShardRecord& shard : record.shards) {
    const std::uint64_t first = shard_begin;
    shard_begin += shard.bytes;
    if (shard_begin <= begin || first >= end) continue;
    Part part{.table = &table,
              .shard = std::make_unique<ShardReader>(folder_.file_path(manifest_.step, shard.file), shard,
                                                     manifest_.checkpoint),
              .blocks = {}};
    const ShardHeader& header = part.shard->header();
    if (header.table != record.name || header.element != record.element || header.length != record.length ||
        header.state_elements != record.state_elements) {
      throw CheckpointError(CheckpointError::Reason::foreign, part.shard->path(),
                            fmt::format("is a shard of table '{}' of another kind", header.table));
    }
    bytes_read_ +=
        part.shard->blocks().size() * BlockRecord::kBytes + ShardTrailer::kBytes + header.to_bytes().size();
    for (const BlockRecord& block : part.shard->blocks())
      if (first + block.offset >= begin && first + block.offset < end) part.blocks.push_back(block);
    parts_.push_back(std::move(part));
  }
}

void CheckpointLoader::read(CheckpointRestorer& restorer) {
  ShardBlock block;
  for (const Part& part : parts_) {
    for (const BlockRecord& record : part.blocks) {
      part.shard->read(record, block);
      bytes_read_ += record.bytes;
      restorer.restore(*part.table, block, part.shard->path());
    }
  }
  restorer.finish();
}

}  // namespace lapse
