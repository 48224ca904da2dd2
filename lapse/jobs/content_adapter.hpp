// Converts checkpointed values and optimizer state to a table's layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/shard_reader.hpp"
#include "lapse/jobs/checkpoint_table.hpp"

namespace lapse {

// Converts elements and resets states as a TableLoad requests; otherwise passes on what was read. Used by one
// thread.
class ContentAdapter {
 public:
  // The table outlives the object. `given`, the table's record in the checkpoint, must fit it.
  ContentAdapter(const CheckpointTable& table, const TableRecord& given, const TableLoad& load);

  // Returns value and state of entry i, valid until the next call. Throws CheckpointError, naming `file`, if
  // they do not fit the key in the table.
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
