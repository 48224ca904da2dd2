#include "lapse/jobs/checkpoint_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/ps/attached_worker.hpp"

namespace lapse {

namespace {

// Estimates, without the shard's index, how many of its bytes belong to keys of the interval.
double likely_bytes(const ShardRecord& shard, const TableLoad& load) {
  if (shard.entries == 0 || shard.last_key < load.first_key || shard.first_key > load.last_key) return 0;
  const double keys = static_cast<double>(shard.last_key - shard.first_key) + 1;
  const std::uint64_t first = std::max(shard.first_key, load.first_key);
  const std::uint64_t last = std::min(shard.last_key, load.last_key);
  return static_cast<double>(shard.bytes) * (static_cast<double>(last - first) + 1) / keys;
}

// Returns the blocks with keys of the interval that begin in a part of these blocks' bytes, given as
// fractions from 0 to 1. If a range is divided into parts, each block begins in exactly one of them.
std::vector<BlockRecord> part_of_blocks(std::span<const BlockRecord> blocks, const TableLoad& load,
                                        double begin, double end) {
  std::vector<BlockRecord> needed;
  double bytes = 0;
  for (const BlockRecord& block : blocks) {
    if (block.last_key < load.first_key || block.first_key > load.last_key) continue;
    needed.push_back(block);
    bytes += static_cast<double>(block.bytes);
  }
  double before = 0;
  std::erase_if(needed, [&](const BlockRecord& block) {
    const double at = before / bytes;
    before += static_cast<double>(block.bytes);
    return at < begin || at >= end;
  });
  return needed;
}

}  // namespace

void CheckpointLoader::open(const CheckpointTable& table, const TableRecord& record, const TableLoad& load) {
  double all = 0;
  for (const ShardRecord& shard : record.shards) all += likely_bytes(shard, load);
  // All ranks compute the same, so every block is in exactly one part.
  const auto part_begin = [&](std::size_t rank) {
    return rank == static_cast<std::size_t>(ranks_) ? 2 * all : all * static_cast<double>(rank) / ranks_;
  };
  const double begin = part_begin(rank_.index());
  const double end = part_begin(rank_.index() + 1);
  double next = 0;
  for (const ShardRecord& shard : record.shards) {
    const double bytes = likely_bytes(shard, load);
    const double first = next;
    next += bytes;
    if (bytes == 0 || next <= begin || first >= end) continue;
    Part part{.table = &table,
              .record = &record,
              .load = load,
              .shard = std::make_unique<ShardReader>(
                  files_.open(folder_.file_path(manifest_.step, shard.file)), shard, manifest_.checkpoint),
              .blocks = {}};
    const ShardHeader& header = part.shard->header();
    if (header.table != record.name || header.element != record.element || header.length != record.length ||
        header.state_elements != record.state_elements) {
      throw CheckpointError(CheckpointError::Reason::foreign, part.shard->path(),
                            fmt::format("is a shard of table '{}' of another kind", header.table));
    }
    bytes_read_ +=
        part.shard->blocks().size() * BlockRecord::kBytes + ShardTrailer::kBytes + header.to_bytes().size();
    part.blocks = part_of_blocks(part.shard->blocks(), load, (begin - first) / bytes, (end - first) / bytes);
    part.shard->detach();
    parts_.push_back(std::move(part));
  }
}

void CheckpointLoader::read(CheckpointRestorer& restorer) {
  ShardBlock block;
  for (const Part& part : parts_) {
    ContentAdapter adapter(*part.table, *part.record, part.load);
    if (!part.blocks.empty()) part.shard->attach(files_.open(part.shard->path()));
    for (const BlockRecord& record : part.blocks) {
      part.shard->read(record, block);
      bytes_read_ += record.bytes;
      restorer.restore(*part.table, part.load, adapter, block, part.shard->path());
    }
    part.shard->detach();
  }
  restorer.finish();
}

}  // namespace lapse
