// Statistics: the text.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/core/statistics/access_shares.hpp"
#include "lapse/core/statistics/copy_series.hpp"
#include "lapse/core/statistics/counters.hpp"
#include "lapse/core/statistics/readable_numbers.hpp"
#include "lapse/core/statistics/statistics_summary.hpp"

namespace lapse {

namespace {

using Lines = std::vector<std::vector<std::string>>;

// Lines of cells: the first column left-justified, the others right-justified, each as wide as its widest
// cell.
std::string align(const Lines& lines) {
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

std::string percent(double share) {
  return fmt::format("{:.2f} %", 100.0 * share);
}

struct ShareRow {
  std::string_view name;
  double AccessShares::*member;
};
constexpr ShareRow kShares[] = {
    {"local_share", &AccessShares::local},   {"main_share", &AccessShares::main},
    {"copy_share", &AccessShares::copy},     {"queued_share", &AccessShares::queued},
    {"remote_share", &AccessShares::remote}, {"remote_operation_share", &AccessShares::remote_operations}};

// Lines shown only if some table checks pushes.
bool is_of_limits(const CounterField<TableCounters>& field) {
  return field.member == &TableCounters::checked_rows || field.member == &TableCounters::not_finite_rows ||
         field.member == &TableCounters::clipped_rows;
}

Lines totals_of_tables(const Statistics& statistics) {
  Lines lines{{"total over ranks"}};
  std::vector<TableCounters> totals;
  for (std::size_t i = 0; i < statistics.table_names.size(); ++i) {
    lines.front().push_back(statistics.table_names[i]);
    totals.push_back(statistics.table_total(TableId{static_cast<std::uint32_t>(i)}));
  }
  const auto add = [&](std::string_view name, const std::function<std::string(const TableCounters&)>& cell) {
    lines.push_back({std::string(name)});
    for (const TableCounters& total : totals) lines.back().push_back(cell(total));
  };
  for (const ShareRow& row : kShares) {
    add(row.name, [&](const TableCounters& total) {
      const auto shares = access_shares(total);
      return shares ? percent(*shares.*row.member) : std::string("-");
    });
  }
  const auto add_mean = [&](std::string_view name, std::uint64_t TableCounters::*sum,
                            const std::function<std::string(double)>& print) {
    add(name, [&](const TableCounters& total) {
      if (total.read_samples == 0) return std::string("-");
      return print(static_cast<double>(total.*sum) / static_cast<double>(total.read_samples));
    });
  };
  add_mean("mean_stale_versions", &TableCounters::stale_versions,
           [](double versions) { return fmt::format("{:.2f}", versions); });
  add_mean("mean_stale_time", &TableCounters::stale_nanoseconds, readable_time);
  const bool looked = std::ranges::any_of(totals, [](const auto& total) { return total.checked_rows != 0; });
  for (const auto& field : kTableCounterFields) {
    if (!looked && is_of_limits(field)) continue;
    // A time, in a fitting unit.
    if (constexpr std::string_view kUnit = "nanoseconds"; field.name.ends_with(kUnit)) {
      add(fmt::format("{}time", field.name.substr(0, field.name.size() - kUnit.size())),
          [&](const TableCounters& total) {
            return readable_time(static_cast<double>(total.*field.member));
          });
    } else {
      add(field.name, [&](const TableCounters& total) { return std::to_string(total.*field.member); });
    }
  }
  return lines;
}

// The ranks with the least and the most; ranks without the number are left out.
struct Extremes {
  std::optional<std::size_t> smallest;
  std::optional<std::size_t> largest;
};
Extremes extremes(const std::vector<std::optional<double>>& values) {
  Extremes found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    if (!found.smallest || *values[i] < *values[*found.smallest]) found.smallest = i;
    if (!found.largest || *values[i] >= *values[*found.largest]) found.largest = i;
  }
  return found;
}

// The differences between ranks for one table.
Lines table_by_rank(const Statistics& statistics, std::size_t table) {
  Lines lines{{fmt::format("'{}' by rank", statistics.table_names[table]), "smallest", "on rank", "largest",
               "on rank"}};
  const auto add = [&](std::string_view name,
                       const std::function<std::optional<double>(const RankStatistics&)>& value,
                       const std::function<std::string(double)>& print) {
    std::vector<std::optional<double>> values;
    for (const RankStatistics& rank : statistics.ranks) values.push_back(value(rank));
    const Extremes found = extremes(values);
    if (!found.smallest) return;
    lines.push_back({std::string(name), print(*values[*found.smallest]), std::to_string(*found.smallest),
                     print(*values[*found.largest]), std::to_string(*found.largest)});
  };
  for (const ShareRow& row : kShares) {
    add(
        row.name,
        [&](const RankStatistics& rank) {
          const auto shares = access_shares(rank.tables[table]);
          return shares ? std::optional(*shares.*row.member) : std::nullopt;
        },
        percent);
  }
  const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
  const auto add_copies = [&](std::string_view name, auto&& number) {
    add(
        name,
        [&](const RankStatistics& rank) {
          return rank.copies.empty() ? std::nullopt
                                     : std::optional<double>(number(summarize(rank.copies, table)));
        },
        whole);
  };
  add_copies("copies, mean over time", [](const CopySummary& copies) { return copies.mean; });
  add_copies("copies, most at a time",
             [](const CopySummary& copies) { return static_cast<double>(copies.largest); });
  for (const auto member : {&TableCounters::relocations_in, &TableCounters::copies_in}) {
    const auto field = std::ranges::find(kTableCounterFields, member, &CounterField<TableCounters>::member);
    add(
        field->name,
        [&](const RankStatistics& rank) {
          return std::optional<double>(static_cast<double>(rank.tables[table].*member));
        },
        whole);
  }
  return lines;
}

Lines messages_by_kind(const Statistics& statistics) {
  Lines lines{{"messages", "records sent", "bytes sent", "records received", "bytes received"}};
  for (const MessageKind& kind : statistics.message_kinds()) {
    lines.push_back({kind.name, std::to_string(kind.records_sent), std::to_string(kind.bytes_sent),
                     std::to_string(kind.records_received), std::to_string(kind.bytes_received)});
  }
  return lines;
}

Lines counters_of_ranks(const Statistics& statistics) {
  Lines lines{{"", "total", "smallest", "on rank", "largest", "on rank"}};
  const RankCounters total = statistics.rank_total();
  const auto& ranks = statistics.ranks;
  for (const auto& field : kRankCounterFields) {
    const auto [smallest, largest] = std::minmax_element(
        ranks.begin(), ranks.end(), [&](const RankStatistics& a, const RankStatistics& b) {
          return a.counters.*field.member < b.counters.*field.member;
        });
    lines.push_back({std::string(field.name), std::to_string(total.*field.member)});
    for (const auto& extreme : {smallest, largest}) {
      if (extreme == ranks.end()) continue;
      lines.back().push_back(std::to_string(extreme->counters.*field.member));
      lines.back().push_back(std::to_string(extreme - ranks.begin()));
    }
  }
  return lines;
}

}  // namespace

std::string Statistics::to_text() const {
  std::string text = summary_lines(*this) + "\n" + align(totals_of_tables(*this));
  for (std::size_t table = 0; table < table_names.size(); ++table)
    text.append("\n").append(align(table_by_rank(*this, table)));
  const Lines messages = messages_by_kind(*this);
  if (messages.size() > 1) text.append("\n").append(align(messages));
  return text.append("\n").append(align(counters_of_ranks(*this)));
}

}  // namespace lapse
