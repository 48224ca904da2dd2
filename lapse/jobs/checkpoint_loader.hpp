// Reads one rank's share of a checkpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/readable_files.hpp"
#include "lapse/checkpoint/shard_reader.hpp"
#include "lapse/jobs/checkpoint_restorer.hpp"
#include "lapse/jobs/checkpoint_table.hpp"

namespace lapse {

// The concatenated shards of a table are divided into one part for each rank, of about equal bytes; a rank
// reads the blocks that begin in its part. So every block is read once, and a rank opens only the shards that
// it needs. If only an interval of keys is loaded, each shard counts with the estimated bytes of these keys,
// by its first and last key.
//
// Used by one thread at a time.
class CheckpointLoader {
 public:
  // Tables and manifest outlive the object.
  CheckpointLoader(const CheckpointFolder& folder, const Manifest& manifest, Rank rank, std::int32_t ranks)
      : folder_(folder), manifest_(manifest), rank_(rank), ranks_(ranks) {}

  // Opens and checks the shards of this rank's share of the table. Throws CheckpointError.
  void open(const CheckpointTable& table, const TableRecord& record, const TableLoad& load);
  // Reads the shares of all opened tables. Throws CheckpointError.
  void read(CheckpointRestorer& restorer);

  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Part {
    const CheckpointTable* table;
    const TableRecord* record;
    TableLoad load;
    std::unique_ptr<ShardReader> shard;  // detached, except during reads
    std::vector<BlockRecord> blocks;
  };

  const CheckpointFolder& folder_;
  const Manifest& manifest_;
  Rank rank_;
  std::int32_t ranks_;
  ReadableFiles files_;
  std::vector<Part> parts_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace lapse
