// Reads the keys of a table in a checkpoint, with their values and states.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/checkpoint_tool/key_interval.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse::apps {

// The table with this name; for an empty name, the only table. Throws CheckpointError.
const TableRecord& chosen_table(const CheckpointFolder& folder, const Manifest& manifest,
                                const std::string& name);

// Iterates over the keys of an interval in ascending order. Reads only blocks that may have one of the keys,
// and keeps one block of each shard in memory. Every call may throw CheckpointError. Used by one thread.
class TableRows {
 public:
  TableRows(const CheckpointFolder& folder, const Manifest& manifest, const TableRecord& table,
            KeyInterval keys = {});
  ~TableRows();
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;

  bool at_end() const { return queue_.empty(); }
  // The current entry; its bytes are valid until the next advance.
  ShardEntry entry() const;
  void advance();

 private:
  class Shard;
  void enqueue(Shard* shard);

  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<Shard*> queue_;  // a heap: the smallest key first
};

}  // namespace lapse::apps
