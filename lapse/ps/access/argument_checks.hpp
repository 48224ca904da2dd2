// Whether the arguments of a worker's call fit its table.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Throws, naming table, key and rank, before anything is applied: KeyOutOfRange, LengthMismatch, UsageError.
class ArgumentChecks {
 public:
  explicit ArgumentChecks(Rank rank) : rank_(rank) {}

  // Every key is one that the table can have.
  LAPSE_EXPORT_INNER void keys(const TableShard& table, std::span<const Key> keys) const;
  // The lengths of the keys' values are possible. For calls without values; `elements` includes this check.
  // Sparse tables ask for the length of each key at every access. Throws ConfigurationError.
  void lengths(const TableShard& table, std::span<const Key> keys) const;
  // As many elements as the values of these keys have together.
  void elements(const TableShard& table, std::span<const Key> keys, std::string_view what,
                std::size_t elements) const;
  void count(const TableShard& table, std::string_view what, std::size_t given, std::size_t expected) const;
  // The table's update rule can scale its learning rate so.
  void scale(const TableShard& table, float scale) const;

 private:
  Rank rank_;
};

}  // namespace lapse
