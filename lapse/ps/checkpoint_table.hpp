// A table of the server, as checkpoints see it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/ps/table.hpp"

namespace lapse {

// Writes the main copies that this rank serves; between phases, when everything is synced, they are all there
// is. Thread safety: the server's thread, between calls of run_workers.
class CheckpointTable {
 public:
  // `name`: in the checkpoint.
  CheckpointTable(const TableHandle& table, std::string name) : table_(table), name_(std::move(name)) {}

  const TableHandle& handle() const { return table_; }
  const std::string& name() const { return name_; }
  // What a manifest records of the table, without shards.
  TableRecord record() const;
  // Throws CheckpointError with reason mismatch, as `file`, where values and states of this record cannot be
  // those of the table.
  void require_fit(const TableRecord& record, const std::string& file) const;
  // As above, for one value.
  void require_fit(std::uint64_t key, std::size_t length, std::size_t content_bytes,
                   const std::string& file) const;

  // Writes a shard, unless this rank serves no keys. Throws CheckpointError.
  std::optional<ShardRecord> write(const std::string& path, std::uint64_t checkpoint) const;

 private:
  TableHandle table_;
  std::string name_;
};

}  // namespace lapse
