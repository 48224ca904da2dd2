// The collected counters of all ranks: totals, shares, and output as text and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// One rank's counters for itself.
struct LAPSE_EXPORT RankCounters {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t engine_turns = 0;
  std::uint64_t helper_turns = 0;
  std::uint64_t rounds = 0;

  RankCounters& operator+=(const RankCounters& other);
  bool operator==(const RankCounters&) const = default;
};

// Messages of one kind. A record is about one key if the kind is about keys; bytes include headers.
struct MessageKind {
  std::string name;
  std::uint64_t records_sent = 0, bytes_sent = 0;
  std::uint64_t records_received = 0, bytes_received = 0;
  bool operator==(const MessageKind&) const = default;
};

// How many replicas a rank held, by TableId, at a time after the start.
struct CopySample {
  double seconds = 0;
  std::vector<std::uint64_t> copies;
  bool operator==(const CopySample&) const = default;
};

// One rank's counters.
struct LAPSE_EXPORT RankStatistics {
  RankCounters counters;
  std::vector<TableCounters> tables = {};  // By TableId.
  std::vector<MessageKind> kinds = {};     // Those that it has sent or received.
  std::vector<CopySample> copies = {};
  bool operator==(const RankStatistics&) const = default;
};

// Plain data. The functions with a TableId throw UsageError if there is no such table.
struct LAPSE_EXPORT Statistics {
  std::vector<std::string> table_names;  // By TableId.
  std::vector<RankStatistics> ranks;     // By Rank.

  // Throws ProtocolError if a rank has other tables than these.
  static Statistics collect(std::vector<std::string> table_names, std::vector<RankStatistics> ranks);

  // Over all ranks.
  TableCounters table_total(TableId table) const;
  RankCounters rank_total() const;

  // The share of accesses that touched memory directly, 0 to 1; nullopt before the first access.
  std::optional<double> local_share(TableId table) const;
  // Over all ranks, by name.
  std::vector<MessageKind> message_kinds() const;

  // {"ranks": n, "total": {...}, "per_rank": [{...}], "messages": {"total": {kind: {...}}, "per_rank": [..]},
  // "tables": [{"name": ..., "local_share": ..., "total": {...}, "per_rank": [{...}], "copies": [[[seconds,
  // copies], ...], ...]}]}; shares are null before the first access.
  std::string to_json() const;

  // Five summary lines, then fixed-width tables: totals of each table; its shares, replicas and relocations
  // by rank, as extremes; messages by kind; and for each counter of the ranks its total and extremes.
  std::string to_text() const;
};

}  // namespace lapse
