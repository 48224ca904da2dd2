// Makes values and states of a checkpoint those of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/shard_reader.hpp"
#include "lapse/jobs/checkpoint_table.hpp"

namespace lapse {

// Converts elements and begins states anew, as a TableLoad asks for; else what was read is what is stored.
// Used by one thread.
class ContentAdapter {
 public:
  // The table outlives the object, and `given`, of its kind in the checkpoint, fits it.
  ContentAdapter(const CheckpointTable& table, const TableRecord& given, const TableLoad& load);

  // Value and state of entry i, valid until the next call. Throws CheckpointError, as `file`, where they are
  // not those of a key of the table.
  std::span<const std::byte> content(const ShardBlock& block, std::size_t i, const std::string& file);

 private:
  void convert(std::uint64_t key, std::span<const std::byte> from, const std::string& file);

  const CheckpointTable& table_;
  CheckpointElement from_;
  CheckpointElement to_;
  bool state_;
  std::vector<std::byte> content_;
};

}  // namespace lapse
