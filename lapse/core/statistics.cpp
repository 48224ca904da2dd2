// Statistics: totals, shares, JSON.
#include "lapse/core/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics/access_shares.hpp"
#include "lapse/core/statistics/counters.hpp"
#include "lapse/core/statistics/json.hpp"

namespace lapse {

namespace {

double ratio(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

std::uint64_t keys_accessed(const TableCounters& counters) {
  return counters.local_pulls + counters.local_pushes + counters.queued_accesses + counters.remote_pulls +
         counters.remote_pushes;
}

std::optional<double> local_share_of(const TableCounters& counters) {
  const std::uint64_t all = keys_accessed(counters);
  if (all == 0) return std::nullopt;
  return ratio(counters.local_pulls + counters.local_pushes, all);
}

// A JSON object of the counters, without the closing bracket.
template <class Counters>
std::string counters_fields(const Counters& counters) {
  std::string json;
  for (const auto& field : counter_fields<Counters>()) {
    json += fmt::format("{}\"{}\": {}", json.empty() ? "{" : ", ", field.name, counters.*field.member);
  }
  return json;
}
std::string counters_json(const RankCounters& counters) {
  return counters_fields(counters) + "}";
}
std::string counters_json(const TableCounters& counters) {
  const std::optional<AccessShares> shares = access_shares(counters);
  const auto share = [&](double AccessShares::*member) {
    return shares ? fmt::format("{:.6f}", *shares.*member) : std::string("null");
  };
  return counters_fields(counters) +
         fmt::format(
             R"(, "main_share": {}, "copy_share": {}, "queued_share": {}, "remote_share": {}, )"
             R"("remote_operation_share": {}, "mean_stale_versions": {:.3f}, "mean_stale_seconds": {:.9f}}})",
             share(&AccessShares::main), share(&AccessShares::copy), share(&AccessShares::queued),
             share(&AccessShares::remote), share(&AccessShares::remote_operations),
             ratio(counters.stale_versions, counters.read_samples),
             ratio(counters.stale_nanoseconds, counters.read_samples) * 1e-9);
}

std::string kinds_json(const std::vector<MessageKind>& kinds) {
  std::string json;
  for (const MessageKind& kind : kinds) {
    json += fmt::format(
        R"({}{}: {{"records_sent": {}, "bytes_sent": {}, "records_received": {}, "bytes_received": {}}})",
        json.empty() ? "" : ", ", json_string(kind.name), kind.records_sent, kind.bytes_sent,
        kind.records_received, kind.bytes_received);
  }
  return "{" + json + "}";
}

// How many replicas of a table a rank held, over time.
std::string copies_json(const std::vector<CopySample>& samples, std::size_t table) {
  std::string json;
  for (const CopySample& sample : samples) {
    json += fmt::format("{}[{:.3f}, {}]", json.empty() ? "" : ", ", sample.seconds,
                        table < sample.copies.size() ? sample.copies[table] : 0);
  }
  return "[" + json + "]";
}

}  // namespace

std::optional<AccessShares> access_shares(const TableCounters& counters) {
  const std::uint64_t all = keys_accessed(counters);
  if (all == 0) return std::nullopt;
  const std::uint64_t copies = counters.copy_pulls + counters.copy_pushes;
  const std::uint64_t local = counters.local_pulls + counters.local_pushes;
  return AccessShares{.local = ratio(local, all),
                      .main = ratio(local - std::min(copies, local), all),
                      .copy = ratio(copies, all),
                      .queued = ratio(counters.queued_accesses, all),
                      .remote = ratio(counters.remote_pulls + counters.remote_pushes, all),
                      .remote_operations = ratio(counters.remote_operations, counters.operations)};
}

Statistics Statistics::collect(std::vector<std::string> table_names, std::vector<RankStatistics> ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].tables.size() != table_names.size()) {
      throw ProtocolError(fmt::format("rank {} sent the statistics of {} tables: expected {}", rank,
                                      ranks[rank].tables.size(), table_names.size()));
    }
  }
  return {.table_names = std::move(table_names), .ranks = std::move(ranks)};
}

TableCounters Statistics::table_total(TableId table) const {
  if (table.index() >= table_names.size()) {
    throw UsageError(
        fmt::format("there are statistics of {} tables, not of table {}", table_names.size(), table.value()));
  }
  TableCounters total;
  for (const RankStatistics& rank : ranks) total += rank.tables[table.index()];
  return total;
}

RankCounters Statistics::rank_total() const {
  RankCounters total;
  for (const RankStatistics& rank : ranks) total += rank.counters;
  return total;
}

std::optional<double> Statistics::local_share(TableId table) const {
  return local_share_of(table_total(table));
}

std::vector<MessageKind> Statistics::message_kinds() const {
  std::map<std::string, MessageKind> kinds;
  for (const RankStatistics& rank : ranks) {
    for (const MessageKind& kind : rank.kinds) {
      MessageKind& sum = kinds[kind.name];
      sum.records_sent += kind.records_sent;
      sum.bytes_sent += kind.bytes_sent;
      sum.records_received += kind.records_received;
      sum.bytes_received += kind.bytes_received;
    }
  }
  std::vector<MessageKind> all;
  for (auto& [name, kind] : kinds) {
    kind.name = name;
    all.push_back(std::move(kind));
  }
  return all;
}

std::string Statistics::to_json() const {
  const auto per_rank = [this](const auto& json_of) {
    std::string json;
    for (const RankStatistics& rank : ranks) json += (json.empty() ? "" : ", ") + json_of(rank);
    return json;
  };
  std::string tables;
  for (std::size_t i = 0; i < table_names.size(); ++i) {
    const TableCounters total = table_total(TableId{static_cast<std::uint32_t>(i)});
    const std::optional<double> share = local_share_of(total);
    tables +=
        fmt::format(R"({}{{"name": {}, "local_share": {}, "total": {}, "per_rank": [{}], "copies": [{}]}})",
                    tables.empty() ? "" : ", ", json_string(table_names[i]),
                    share ? fmt::format("{:.6f}", *share) : "null", counters_json(total),
                    per_rank([i](const RankStatistics& rank) { return counters_json(rank.tables[i]); }),
                    per_rank([i](const RankStatistics& rank) { return copies_json(rank.copies, i); }));
  }
  return fmt::format(
      R"({{"ranks": {}, "total": {}, "per_rank": [{}], "messages": {{"total": {}, "per_rank": [{}]}}, )"
      R"("tables": [{}]}})",
      ranks.size(), counters_json(rank_total()),
      per_rank([](const RankStatistics& rank) { return counters_json(rank.counters); }),
      kinds_json(message_kinds()),
      per_rank([](const RankStatistics& rank) { return kinds_json(rank.kinds); }), tables);
}

}  // namespace lapse
