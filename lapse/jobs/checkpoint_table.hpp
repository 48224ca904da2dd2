// A table of the server, as checkpoints use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/ps/table.hpp"

namespace lapse {

// Thread safety: the server's thread, between phases; require_fit: any thread.
class CheckpointTable {
 public:
  // `name`: in the checkpoint.
  CheckpointTable(const TableHandle& table, std::string name) : table_(table), name_(std::move(name)) {}

  const TableHandle& handle() const { return table_; }
  const std::string& name() const { return name_; }
  // Returns what a manifest records of the table, without shards.
  TableRecord record() const;
  // Throws CheckpointError with reason mismatch, naming `file`, if the requested part of the given record
  // cannot be converted to values and states of the table.
  // `grow`: the table may have more keys than were saved.
  void require_fit(const TableRecord& given, const TableLoad& load, bool grow, const std::string& file) const;
  // The same check, for the lengths of one key.
  void require_fit(std::uint64_t key, std::size_t length, const std::string& file) const;

 private:
  TableHandle table_;
  std::string name_;
};

}  // namespace lapse
