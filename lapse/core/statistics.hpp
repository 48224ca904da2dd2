// The counters of all ranks, collected: totals, shares, and their output as text and as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// What one rank has counted.
struct RankStatistics {
  RankCounters counters;
  std::vector<TableCounters> tables;  // By TableId.

  // As bytes for other ranks:
  //   | u32 number of tables | rank counters, u64 each | counters of each table, u64 each |
  std::vector<std::byte> encode() const;
  // Throws ProtocolError when the bytes are not what encode writes.
  static RankStatistics decode(std::span<const std::byte> bytes);

  bool operator==(const RankStatistics&) const = default;
};

// Plain data; the functions that take a TableId throw UsageError when there is no such table.
struct Statistics {
  std::vector<std::string> table_names;  // By TableId.
  std::vector<RankStatistics> ranks;     // By Rank.

  // From the encoded statistics of every rank. Throws ProtocolError when they have different tables.
  static Statistics collect(std::vector<std::string> table_names,
                            std::span<const std::vector<std::byte>> encoded);

  // Over all ranks.
  TableCounters table_total(TableId table) const;
  RankCounters rank_total() const;

  // The share of the accesses that touched memory directly, 0 to 1; nothing before the first access.
  std::optional<double> local_share(TableId table) const;

  // All counters: {"ranks": n, "total": {...}, "per_rank": [{...}], "tables": [{"name": ..., "local_share":
  // ..., "total": {...}, "per_rank": [{...}]}]}; local_share is null before the first access.
  std::string to_json() const;

  // Two fixed-width tables: the totals of each table, and for each counter of the ranks its total and its
  // extremes.
  std::string to_text() const;
};

}  // namespace lapse
