// The rows of a table that one rank saves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/checkpoint/shard_writer.hpp"
#include "lapse/jobs/checkpoint_staging.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Which keys there are, and where the value of each is, with the state of the update rule behind it. Keys
// that follow one another with values that do are one run, so that a table whose keys were never moved takes
// next to nothing.
//
// Used by one thread at a time. Collected between phases; what is not copied stays as it is until the rows
// have been written.
class SavedRows {
 public:
  // Bytes of staging that a copy of the table takes, at most.
  static std::size_t staging_bytes(const TableShard& table);

  // Finds the rows of the keys that this rank serves, and copies them to `staging`, where that is not null.
  // Throws std::bad_alloc. The table outlives the object.
  SavedRows(const TableShard& table, CheckpointStaging* staging);

  std::uint64_t keys() const { return keys_; }
  // Of a shard with this header. Where keys have lengths of their own, puts the keys into order first.
  std::uint64_t shard_bytes(const ShardHeader& header);
  // Rising keys. Throws CheckpointError.
  void write(ShardWriter& writer);

 private:
  struct Run {
    std::uint64_t first_key;
    std::uint64_t keys;
    const std::byte* row;  // of the first key
  };

  // The keys of a sparse table come in the order in which they were made.
  void sort();
  template <class F>
  void for_each(F&& f) const;

  const ValueSizes& sizes_;
  std::vector<Run> runs_;
  std::uint64_t keys_ = 0;
  bool sorted_;
};

}  // namespace lapse
