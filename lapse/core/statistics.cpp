#include "lapse/core/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/counters.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/json.hpp"

namespace lapse {

namespace {

std::optional<double> local_share_of(const TableCounters& counters) {
  const std::uint64_t local = counters.local_pulls + counters.local_pushes;
  const std::uint64_t all = local + counters.queued_accesses + counters.remote_pulls + counters.remote_pushes;
  if (all == 0) return std::nullopt;
  return static_cast<double>(local) / static_cast<double>(all);
}

template <class Counters>
std::string counters_json(const Counters& counters) {
  std::string json;
  for (const auto& field : counter_fields<Counters>()) {
    json += fmt::format("{}\"{}\": {}", json.empty() ? "{" : ", ", field.name, counters.*field.member);
  }
  return json + "}";
}

// Lines of cells: the first column left-justified, the others right-justified, each as wide as its widest
// cell.
std::string align(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    text += fmt::format("{:<{}}", line.front(), widths.front());
    for (std::size_t i = 1; i < line.size(); ++i) text += fmt::format("  {:>{}}", line[i], widths[i]);
    text += '\n';
  }
  return text;
}

}  // namespace

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

std::string Statistics::to_json() const {
  const auto per_rank = [this](const auto& counters_of) {
    std::string json;
    for (const RankStatistics& rank : ranks)
      json += (json.empty() ? "" : ", ") + counters_json(counters_of(rank));
    return json;
  };
  std::string tables;
  for (std::size_t i = 0; i < table_names.size(); ++i) {
    const TableCounters total = table_total(TableId{static_cast<std::uint32_t>(i)});
    const std::optional<double> share = local_share_of(total);
    tables += fmt::format(R"({}{{"name": {}, "local_share": {}, "total": {}, "per_rank": [{}]}})",
                          tables.empty() ? "" : ", ", json_string(table_names[i]),
                          share ? fmt::format("{:.6f}", *share) : "null", counters_json(total),
                          per_rank([i](const RankStatistics& rank) { return rank.tables[i]; }));
  }
  return fmt::format(R"({{"ranks": {}, "total": {}, "per_rank": [{}], "tables": [{}]}})", ranks.size(),
                     counters_json(rank_total()),
                     per_rank([](const RankStatistics& rank) { return rank.counters; }), tables);
}

std::string Statistics::to_text() const {
  std::vector<std::vector<std::string>> table_lines{{"total over ranks"}};
  std::vector<TableCounters> totals;
  for (std::size_t i = 0; i < table_names.size(); ++i) {
    table_lines.front().push_back(table_names[i]);
    totals.push_back(table_total(TableId{static_cast<std::uint32_t>(i)}));
  }
  table_lines.push_back({"local_share"});
  for (const TableCounters& total : totals) {
    const std::optional<double> share = local_share_of(total);
    table_lines.back().push_back(share ? fmt::format("{:.2f} %", 100.0 * *share) : "-");
  }
  for (const auto& field : kTableCounterFields) {
    table_lines.push_back({std::string(field.name)});
    for (const TableCounters& total : totals)
      table_lines.back().push_back(std::to_string(total.*field.member));
  }

  std::vector<std::vector<std::string>> rank_lines{
      {"", "total", "smallest", "on rank", "largest", "on rank"}};
  const RankCounters total = rank_total();
  for (const auto& field : kRankCounterFields) {
    const auto [smallest, largest] = std::minmax_element(
        ranks.begin(), ranks.end(), [&](const RankStatistics& a, const RankStatistics& b) {
          return a.counters.*field.member < b.counters.*field.member;
        });
    rank_lines.push_back({std::string(field.name), std::to_string(total.*field.member)});
    for (const auto& extreme : {smallest, largest}) {
      if (extreme == ranks.end()) continue;
      rank_lines.back().push_back(std::to_string(extreme->counters.*field.member));
      rank_lines.back().push_back(std::to_string(extreme - ranks.begin()));
    }
  }
  return align(table_lines) + "\n" + align(rank_lines);
}

}  // namespace lapse
