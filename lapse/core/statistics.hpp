// The counters of all ranks, collected: totals, shares, and their output as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Messages of one kind. A record is about one key, where the kind is about keys; bytes contain headers.
struct MessageKind {
  std::string name;
  std::uint64_t records_sent = 0, bytes_sent = 0;
  std::uint64_t records_received = 0, bytes_received = 0;
  bool operator==(const MessageKind&) const = default;
};

// How many copies a rank held, by TableId, so long after the start.
struct CopySample {
  double seconds = 0;
  std::vector<std::uint64_t> copies;
  bool operator==(const CopySample&) const = default;
};

// What one rank has counted.
struct LAPSE_EXPORT RankStatistics {
  RankCounters counters;
  std::vector<TableCounters> tables = {};  // By TableId.
  std::vector<MessageKind> kinds = {};     // Those that it has sent or received.
  std::vector<CopySample> copies = {};
  bool operator==(const RankStatistics&) const = default;
};

// Plain data; the functions that take a TableId throw UsageError when there is no such table.
struct LAPSE_EXPORT Statistics {
  std::vector<std::string> table_names;  // By TableId.
  std::vector<RankStatistics> ranks;     // By Rank.

  // Throws ProtocolError when a rank has other tables than these.
  static Statistics collect(std::vector<std::string> table_names, std::vector<RankStatistics> ranks);

  // Over all ranks.
  TableCounters table_total(TableId table) const;
  RankCounters rank_total() const;

  // The share of the accesses that touched memory directly, 0 to 1; nothing before the first access.
  std::optional<double> local_share(TableId table) const;
  // Over all ranks, by name.
  std::vector<MessageKind> message_kinds() const;

  // {"ranks": n, "total": {...}, "per_rank": [{...}], "messages": {"total": {kind: {...}}, "per_rank": [..]},
  // "tables": [{"name": ..., "local_share": ..., "total": {...}, "per_rank": [{...}], "copies": [[[seconds,
  // copies], ...], ...]}]}; shares are null before the first access.
  std::string to_json() const;

  // Five lines for a person, then fixed-width tables: the totals of each table; its shares, copies and
  // relocations by rank, as extremes; the messages by kind; and for each counter of the ranks its total and
  // its extremes.
  std::string to_text() const;
};

}  // namespace lapse
