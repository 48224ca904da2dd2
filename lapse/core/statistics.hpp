// The counters of all ranks, collected: totals, shares, and their output as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// What one rank has counted.
struct RankStatistics {
  RankCounters counters;
  std::vector<TableCounters> tables;  // By TableId.

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& counters& tables;
  }

  bool operator==(const RankStatistics&) const = default;
};

// Plain data; the functions that take a TableId throw UsageError when there is no such table.
struct Statistics {
  std::vector<std::string> table_names;  // By TableId.
  std::vector<RankStatistics> ranks;     // By Rank.

  // Throws ProtocolError when a rank has other tables than these.
  static Statistics collect(std::vector<std::string> table_names, std::vector<RankStatistics> ranks);

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
