// The keys of a table in a checkpoint, with what is stored of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/checkpoint_tool/key_interval.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse::apps {

// The table of this name or, for an empty name, the only one. Throws CheckpointError.
const TableRecord& chosen_table(const CheckpointFolder& folder, const Manifest& manifest,
                                const std::string& name);

// Goes through the keys of an interval in rising order. Reads only blocks that may have one of the keys, and
// stores one block of each shard. Every call may throw CheckpointError. Used by one thread.
class TableRows {
 public:
  TableRows(const CheckpointFolder& folder, const Manifest& manifest, const TableRecord& table,
            KeyInterval keys = {});
  ~TableRows();
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;

  bool at_end() const { return queue_.empty(); }
  // Its bytes are valid until the next call of advance.
  ShardEntry entry() const;
  void advance();

 private:
  class Shard;
  void enqueue(Shard* shard);

  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<Shard*> queue_;  // a heap: the smallest key first
};

}  // namespace lapse::apps
