// The counters of all ranks, collected: totals, shares, and their output as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/level_series.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Messages of one kind. A record is about one key, where the kind is about keys; bytes contain headers.
struct MessageKind {
  std::string name;
  std::uint64_t records_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t records_received = 0;
  std::uint64_t bytes_received = 0;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name& records_sent& bytes_sent& records_received& bytes_received;
  }

  bool operator==(const MessageKind&) const = default;
};

// Where accesses went, as shares from 0 to 1: of keys, and of operations.
struct AccessShares {
  double local = 0;   // keys accessed in memory at once
  double main = 0;    // of these, in a main copy
  double copy = 0;    // and in another copy
  double queued = 0;  // keys accessed in memory after they had arrived
  double remote = 0;  // keys accessed by message
  double remote_operations = 0;
};

// What one rank has counted.
struct RankStatistics {
  RankCounters counters;
  std::vector<TableCounters> tables = {};  // By TableId.
  std::vector<MessageKind> kinds = {};     // Those that it has sent or received.
  std::vector<LevelSample> copies = {};    // How many copies it held, by TableId.

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& counters& tables& kinds& copies;
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
  std::optional<AccessShares> shares(TableId table) const;
  static std::optional<AccessShares> shares(const TableCounters& counters);
  // Over all ranks, by name.
  std::vector<MessageKind> message_kinds() const;

  // All counters: {"ranks": n, "total": {...}, "per_rank": [{...}], "tables": [{"name": ..., "local_share":
  // ..., "total": {...}, "per_rank": [{...}], "copies": [[[seconds, copies], ...], ...]}], "messages":
  // {"total": {kind: {...}}, "per_rank": [{kind: {...}}]}}. Counters of tables end with what follows from
  // them: shares of accesses, which are null before the first one, and means of staleness.
  std::string to_json() const;

  // Fixed-width tables: the totals of each table; its shares, copies and relocations by rank, as extremes;
  // the messages by kind; and for each counter of the ranks its total and its extremes.
  std::string to_text() const;
};

}  // namespace lapse
