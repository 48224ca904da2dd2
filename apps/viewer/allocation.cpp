#include "apps/viewer/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "lapse/core/error.hpp"
#include "lapse/core/tracing/allocation_records.hpp"

namespace lapse::apps {

namespace {

// The clock of a host minus rank 0's, at a time of the host's clock. All ranks of a host have one clock, so
// the bounds of all of them hold for it.
class ClockCorrection {
 public:
  ClockCorrection(const std::vector<RankTrace>& traces, std::int32_t host) {
    std::optional<RankClock> first;
    std::optional<RankClock> last;
    for (const RankTrace& trace : traces) {
      if (trace.hosts[static_cast<std::size_t>(trace.rank)] != host || trace.clocks.empty()) continue;
      tighten(first, trace.clocks.front());
      tighten(last, trace.clocks.back());
    }
    if (!first) return;
    const bool is_first_host = host == traces[0].hosts[0];
    first_ = {first->time, is_first_host ? 0 : middle(*first)};
    last_ = {last->time, is_first_host ? 0 : middle(*last)};
  }

  std::int64_t corrected(std::int64_t time) const {
    if (last_.time <= first_.time) return time - first_.difference;
    const double part =
        static_cast<double>(time - first_.time) / static_cast<double>(last_.time - first_.time);
    return time - first_.difference -
           static_cast<std::int64_t>(part * static_cast<double>(last_.difference - first_.difference));
  }

 private:
  struct Point {
    std::int64_t time = 0;
    std::int64_t difference = 0;
  };

  static void tighten(std::optional<RankClock>& bounds, const RankClock& other) {
    if (!bounds) bounds = other;
    bounds->lowest = std::max(bounds->lowest, other.lowest);
    bounds->highest = std::min(bounds->highest, other.highest);
  }
  static std::int64_t middle(const RankClock& clock) { return clock.lowest / 2 + clock.highest / 2; }

  Point first_;
  Point last_;
};

void check_ranks(const std::vector<RankTrace>& traces) {
  if (traces.empty()) throw ConfigurationError("there is no trace");
  const std::size_t ranks = traces[0].hosts.size();
  std::vector<int> found(ranks, 0);
  for (const RankTrace& trace : traces) {
    if (trace.hosts != traces[0].hosts)
      throw ConfigurationError(
          fmt::format("the traces of ranks {} and {} are of different runs: {} and {} ranks, or other hosts",
                      traces[0].rank, trace.rank, ranks, trace.hosts.size()));
    if (++found[static_cast<std::size_t>(trace.rank)] > 1)
      throw ConfigurationError(fmt::format("there are two traces of rank {}", trace.rank));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (found[rank] == 0)
      throw ConfigurationError(fmt::format("the trace of rank {} of {} is missing", rank, ranks));
}

// The index of a rank's table among those of all ranks.
std::size_t table_in(Allocation& allocation, const RankTable& table) {
  const auto found = std::ranges::find(allocation.tables, table.name, &TableAllocation::name);
  const std::int32_t domains = std::ranges::max(table.domains) + 1;
  if (found == allocation.tables.end()) {
    TableAllocation& added = allocation.tables.emplace_back();
    added.name = table.name;
    added.keys = table.keys;
    added.home = table.home;
    added.value_bytes = table.value_bytes;
    added.content_bytes = table.content_bytes;
    added.delta_bytes = table.delta_bytes;
    added.may_have_replicas = table.may_have_replicas;
    added.domains = domains;
    added.rounds.resize(static_cast<std::size_t>(domains));
    return allocation.tables.size() - 1;
  }
  if (found->keys != table.keys || found->domains != domains || found->home != table.home)
    throw ConfigurationError(fmt::format("the ranks' traces have different tables '{}'", table.name));
  return static_cast<std::size_t>(found - allocation.tables.begin());
}

// Adds what a rank's trace has. `time`: of the rank's clock to that of all.
template <class Time>
void add_rank(Allocation& allocation, const RankTrace& trace, Time&& time) {
  const auto rank = static_cast<std::size_t>(trace.rank);
  std::vector<std::size_t> tables;
  for (const RankTable& table : trace.tables) tables.push_back(table_in(allocation, table));
  const auto table_of = [&](const auto& event) -> TableAllocation& {
    return allocation.tables[tables[event.table]];
  };
  const auto domain_of = [&](const auto& event) { return trace.tables[event.table].domains[rank]; };
  for (const RankChange& change : trace.changes)
    table_of(change).changes.push_back({time(change.time), change.key, domain_of(change), change.state});
  for (const RankWant& want : trace.wants)
    table_of(want).wants.push_back({time(want.time), want.key, domain_of(want), want.on});
  for (const RankAccess& access : trace.accesses)
    table_of(access).accesses.push_back({time(access.time), access.key, domain_of(access), access.kind});
  for (std::size_t i = 0; i < trace.tables.size(); ++i) {
    const auto domain = static_cast<std::size_t>(trace.tables[i].domains[rank]);
    auto& rounds = allocation.tables[tables[i]].rounds[domain];
    if (trace.rounds.size() <= rounds.size()) continue;
    rounds.clear();
    std::ranges::transform(trace.rounds, std::back_inserter(rounds), time);
  }
  if (trace.rank == 0) {
    const auto at_time = [&](const RankPhase& phase) {
      return RankPhase{.name = phase.name, .begin = time(phase.begin), .end = time(phase.end)};
    };
    std::ranges::transform(trace.phases, std::back_inserter(allocation.phases), at_time);
    std::ranges::transform(trace.bands, std::back_inserter(allocation.bands), at_time);
    allocation.notes = trace.notes;
  }
  allocation.duration = std::max(allocation.duration, time(trace.end));
  if (!trace.is_closed) allocation.incomplete.push_back(trace.rank);
  if (trace.dropped) {
    const std::int64_t dropped = time(*trace.dropped);
    allocation.dropped = std::min(allocation.dropped.value_or(dropped), dropped);
  }
}

}  // namespace

Allocation merge_traces(const std::vector<RankTrace>& traces) {
  check_ranks(traces);
  Allocation allocation;
  allocation.hosts = traces[0].hosts;
  std::map<std::int32_t, ClockCorrection> clocks;
  for (const std::int32_t host : allocation.hosts) clocks.try_emplace(host, traces, host);
  const auto clock_of = [&](const RankTrace& trace) -> const ClockCorrection& {
    return clocks.at(trace.hosts[static_cast<std::size_t>(trace.rank)]);
  };
  std::optional<std::int64_t> made;
  for (const RankTrace& trace : traces) {
    if (trace.tables.empty()) continue;
    const std::int64_t first = clock_of(trace).corrected(trace.tables.front().made);
    made = std::min(made.value_or(first), first);
  }
  const std::int64_t begin = made.value_or(traces[0].begin);
  for (const RankTrace& trace : traces) {
    add_rank(allocation, trace, [&clock = clock_of(trace), begin](std::int64_t of_rank) {
      return std::max<std::int64_t>(clock.corrected(of_rank) - begin, 0);
    });
  }
  for (TableAllocation& table : allocation.tables) {
    std::ranges::stable_sort(table.changes, {}, &KeyChange::time);
    std::ranges::stable_sort(table.wants, {}, &KeyWant::time);
    std::ranges::stable_sort(table.accesses, {}, &KeyAccess::time);
  }
  return allocation;
}

void forget_after(Allocation& allocation, std::int64_t time) {
  const auto is_later = [time](const auto& event) { return event.time > time; };
  for (TableAllocation& table : allocation.tables) {
    std::erase_if(table.changes, is_later);
    std::erase_if(table.wants, is_later);
    std::erase_if(table.accesses, is_later);
    for (auto& rounds : table.rounds)
      std::erase_if(rounds, [time](std::int64_t round) { return round > time; });
  }
}

std::vector<std::string> trace_paths(const std::string& prefix) {
  const std::size_t ranks = read_rank_header(prefix + ".0").hosts.size();
  std::vector<std::string> paths;
  for (std::size_t rank = 0; rank < ranks; ++rank) paths.push_back(fmt::format("{}.{}", prefix, rank));
  return paths;
}

Allocation read_allocation(const std::string& prefix) {
  std::vector<RankTrace> traces;
  for (const std::string& path : trace_paths(prefix)) traces.push_back(read_rank_trace(path));
  return merge_traces(traces);
}

std::vector<Relocation> relocations_of(const TableAllocation& table) {
  std::unordered_map<std::uint64_t, std::int32_t> owners;
  std::vector<Relocation> relocations;
  for (const KeyChange& change : table.changes) {
    if ((change.state & kTraceOwner) == 0) continue;
    const auto [found, is_first] = owners.try_emplace(change.key, change.domain);
    if (is_first || found->second == change.domain) continue;
    relocations.push_back(
        {.time = change.time, .key = change.key, .from = found->second, .to = change.domain});
    found->second = change.domain;
  }
  return relocations;
}

std::vector<std::uint8_t> states_at(const TableAllocation& table, std::uint64_t key, std::int64_t time) {
  std::vector<std::uint8_t> states(static_cast<std::size_t>(table.domains), 0);
  for (const KeyChange& change : table.changes) {
    if (change.time > time) break;
    if (change.key != key) continue;
    // A clock's error may let a key leave after it has arrived.
    if ((change.state & kTraceOwner) != 0)
      for (std::uint8_t& state : states) state &= static_cast<std::uint8_t>(~kTraceOwner);
    states[static_cast<std::size_t>(change.domain)] = change.state;
  }
  return states;
}

std::vector<KeyMoves> moves_of(const TableAllocation& table) {
  struct History {
    KeyMoves moves;
    std::optional<std::int32_t> came_from;
  };
  std::unordered_map<std::uint64_t, History> histories;
  for (const Relocation& relocation : relocations_of(table)) {
    History& history = histories[relocation.key];
    history.moves.key = relocation.key;
    ++history.moves.relocations;
    if (history.came_from == relocation.to) ++history.moves.returns;
    history.came_from = relocation.from;
  }
  std::vector<KeyMoves> moves;
  moves.reserve(histories.size());
  for (const auto& [key, history] : histories) moves.push_back(history.moves);
  std::ranges::sort(moves, [](const KeyMoves& left, const KeyMoves& right) {
    return left.relocations != right.relocations ? left.relocations > right.relocations
                                                 : left.key < right.key;
  });
  return moves;
}

}  // namespace lapse::apps
