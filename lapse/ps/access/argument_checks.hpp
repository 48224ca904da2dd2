// Checks that the arguments of a worker's call fit its table.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Throw before anything is applied, naming table, key and rank: KeyOutOfRange, LengthMismatch, UsageError.
class ArgumentChecks {
 public:
  explicit ArgumentChecks(Rank rank) : rank_(rank) {}

  // Checks that the table can have every key.
  LAPSE_EXPORT_INNER void keys(const TableShard& table, std::span<const Key> keys) const;
  // Checks that the lengths of the keys' values are valid, for calls without values; `elements` includes this
  // check. Sparse tables compute the length of each key at every access. Throws ConfigurationError.
  void lengths(const TableShard& table, std::span<const Key> keys) const;
  // Checks that the keys' values have this many elements in all.
  void elements(const TableShard& table, std::span<const Key> keys, std::string_view what,
                std::size_t elements) const;
  void count(const TableShard& table, std::string_view what, std::size_t given, std::size_t expected) const;
  // Checks that the table's update rule accepts this scale of its learning rate.
  void scale(const TableShard& table, float scale) const;

 private:
  Rank rank_;
};

}  // namespace lapse
