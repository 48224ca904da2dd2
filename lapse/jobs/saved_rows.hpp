// The rows of a table that one rank saves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/checkpoint/shard_writer.hpp"
#include "lapse/jobs/checkpoint_staging.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// The keys, and the address of each value, which the state of the update rule follows. Consecutive keys with
// consecutive values are one run, so a table whose keys have never moved takes almost no memory.
//
// Used by one thread at a time. Made between phases. Rows that are not copied must not change until they have
// been written.
class SavedRows {
 public:
  // Bytes of staging that a copy of the table takes, at most.
  static std::size_t staging_bytes(const TableShard& table);

  // Finds the rows of the keys that this rank serves, and copies them to `staging`, unless that is null.
  // Throws std::bad_alloc. The table outlives the object.
  SavedRows(const TableShard& table, CheckpointStaging* staging);

  std::uint64_t keys() const { return keys_; }
  // Returns the bytes of a shard with this header. If keys have lengths of their own, sorts the keys first.
  std::uint64_t shard_bytes(const ShardHeader& header);
  // Writes the rows by ascending keys. Throws CheckpointError.
  void write(ShardWriter& writer);

 private:
  struct Run {
    std::uint64_t first_key;
    std::uint64_t keys;
    const std::byte* row;  // of the first key
  };

  // The keys of a sparse table are collected in the order in which they were made.
  void sort();
  template <class F>
  void for_each(F&& f) const;

  const ValueSizes& sizes_;
  std::vector<Run> runs_;
  std::uint64_t keys_ = 0;
  bool sorted_;
};

}  // namespace lapse
