#include "apps/viewer/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/tracing/allocation_records.hpp"

namespace lapse::apps {

namespace {

double seconds_of(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

std::vector<std::int32_t> domains_with(const std::vector<std::uint8_t>& states, std::uint8_t what) {
  std::vector<std::int32_t> domains;
  for (std::size_t domain = 0; domain < states.size(); ++domain)
    if ((states[domain] & what) != 0) domains.push_back(static_cast<std::int32_t>(domain));
  return domains;
}

std::string state_text(std::uint8_t state) {
  const char* const awaited = (state & kTraceAwaited) != 0 ? ", and awaits the main copy" : "";
  if ((state & kTraceOwner) != 0) return "owns it";
  if ((state & kTraceCopy) != 0) return fmt::format("has a replica{}", awaited);
  return *awaited != '\0' ? "awaits it" : "has nothing of it";
}

struct KeyLine {
  std::int64_t time = 0;
  std::int32_t domain = 0;
  std::string text;
};

std::string accesses_text(std::uint8_t kind, std::size_t count) {
  const char* const what = (kind & kTraceWrites) != 0 ? "write" : "read";
  const char* const where = (kind & kTraceRemote) != 0 ? " by messages" : "";
  return count == 1 ? fmt::format("1 {}{}", what, where) : fmt::format("{} {}s{}", count, what, where);
}

// All that happened to a key, in the order of time. Equal accesses with nothing between them are one line.
std::vector<KeyLine> lines_of(const TableAllocation& table, std::uint64_t key) {
  std::vector<KeyLine> lines;
  for (const KeyChange& change : table.changes)
    if (change.key == key) lines.push_back({change.time, change.domain, state_text(change.state)});
  for (const KeyWant& want : table.wants)
    if (want.key == key)
      lines.push_back({want.time, want.domain, want.on ? "intents want it" : "no intent wants it"});
  std::ranges::stable_sort(lines, {}, &KeyLine::time);
  std::vector<KeyLine> all;
  auto next = lines.begin();
  std::uint8_t kind = 0;
  std::size_t equal = 0;  // of the last line; 0: it is no access
  for (const KeyAccess& access : table.accesses) {
    if (access.key != key) continue;
    for (; next != lines.end() && next->time <= access.time; equal = 0) all.push_back(*next++);
    if (equal > 0 && access.kind == kind && access.domain == all.back().domain) {
      all.back().text = accesses_text(kind, ++equal);
      continue;
    }
    kind = access.kind;
    equal = 1;
    all.push_back({access.time, access.domain, accesses_text(kind, equal)});
  }
  all.insert(all.end(), next, lines.end());
  return all;
}

// Calls on_set_up(time) and on_drop(time) for replicas.
template <class SetUp, class Drop>
void for_each_replica_change(const TableAllocation& table, SetUp&& on_set_up, Drop&& on_drop) {
  std::vector<std::unordered_set<std::uint64_t>> copies(static_cast<std::size_t>(table.domains));
  for (const KeyChange& change : table.changes) {
    std::unordered_set<std::uint64_t>& of_domain = copies[static_cast<std::size_t>(change.domain)];
    if ((change.state & kTraceCopy) != 0) {
      if (of_domain.insert(change.key).second) on_set_up(change.time);
    } else if (of_domain.erase(change.key) > 0) {
      on_drop(change.time);
    }
  }
}

}  // namespace

const TableAllocation& chosen_table(const Allocation& allocation, const std::string& name) {
  std::vector<std::string> names;
  for (const TableAllocation& table : allocation.tables) {
    if (table.name == name || (name.empty() && allocation.tables.size() == 1)) return table;
    names.push_back(table.name);
  }
  throw ConfigurationError(fmt::format(
      "{}: expected one of the tables '{}'",
      name.empty() ? "the trace has several tables" : fmt::format("the trace has no table '{}'", name),
      fmt::join(names, "', '")));
}

void print_trace_summary(const Allocation& allocation, std::FILE* out) {
  const auto hosts = std::set<std::int32_t>(allocation.hosts.begin(), allocation.hosts.end()).size();
  fmt::print(out, "{} ranks on {} hosts, {:.3f} s, {} phases\n", allocation.hosts.size(), hosts,
             seconds_of(allocation.duration), allocation.phases.size());
  for (const auto& [name, value] : allocation.notes) fmt::print(out, "{}: {}\n", name, value);
  for (const RankPhase& band : allocation.bands)
    fmt::print(out, "{}: {:.3f} s to {:.3f} s\n", band.name, seconds_of(band.begin), seconds_of(band.end));
  for (const std::int32_t rank : allocation.incomplete)
    fmt::print(out, "rank {} did not close its server: its last changes may be missing\n", rank);
  if (allocation.dropped)
    fmt::print(out, "from {:.3f} s on, not all changes are recorded, for the limit of bytes\n",
               seconds_of(*allocation.dropped));
  for (const TableAllocation& table : allocation.tables) {
    std::unordered_set<std::uint64_t> keys;
    for (const KeyChange& change : table.changes) keys.insert(change.key);
    const auto moves = moves_of(table);
    std::uint64_t relocations = 0;
    std::uint64_t returns = 0;
    for (const KeyMoves& key : moves) {
      relocations += key.relocations;
      returns += key.returns;
    }
    std::uint64_t set_up = 0;
    for_each_replica_change(
        table, [&](std::int64_t) { ++set_up; }, [](std::int64_t) {});
    if (!table.accesses.empty() || !table.wants.empty()) {
      const auto remote = std::ranges::count_if(
          table.accesses, [](const KeyAccess& access) { return (access.kind & kTraceRemote) != 0; });
      const auto begun = std::ranges::count_if(table.wants, &KeyWant::on);
      fmt::print(out, "table '{}': {} accesses, {} of them by messages to other domains; wanted {} times\n",
                 table.name, table.accesses.size(), remote, begun);
    }
    fmt::print(
        out,
        "table '{}': {} domains, {} of {} keys in the trace; {} keys moved, {} relocations, {} of them "
        "back to where the key came from; {} replicas set up\n",
        table.name, table.domains, keys.size(), table.keys > 0 ? std::to_string(table.keys) : "any",
        moves.size(), relocations, returns, set_up);
  }
}

void print_key(const TableAllocation& table, std::uint64_t key, std::optional<double> seconds,
               std::FILE* out) {
  if (seconds) {
    const auto states = states_at(table, key, static_cast<std::int64_t>(*seconds * 1e9));
    const auto owners = domains_with(states, kTraceOwner);
    fmt::print(
        out, "key {} of table '{}' at {:.6f} s: {}, replicas in domains [{}], awaited by domains [{}]\n", key,
        table.name, *seconds,
        owners.empty() ? "on its way, or not in the trace" : fmt::format("owned by domain {}", owners[0]),
        fmt::join(domains_with(states, kTraceCopy), ", "),
        fmt::join(domains_with(states, kTraceAwaited), ", "));
    return;
  }
  for (const KeyLine& line : lines_of(table, key))
    fmt::print(out, "{:>14.6f} s  domain {:<4} {}\n", seconds_of(line.time), line.domain, line.text);
}

void print_moves(const TableAllocation& table, std::size_t count, bool returns, std::FILE* out) {
  std::vector<KeyMoves> moves = moves_of(table);
  if (returns) std::ranges::stable_sort(moves, std::greater<>(), &KeyMoves::returns);
  fmt::print(out, "{:>20}{:>14}{:>14}\n", "key", "relocations", "back");
  for (const KeyMoves& key : moves) {
    if (count-- == 0) break;
    fmt::print(out, "{:>20}{:>14}{:>14}\n", key.key, key.relocations, key.returns);
  }
}

void print_rates(const Allocation& allocation, const TableAllocation& table, std::size_t intervals,
                 std::FILE* out) {
  struct Counts {
    std::uint64_t relocations = 0;
    std::uint64_t set_up = 0;
    std::uint64_t dropped = 0;
  };
  std::vector<Counts> counts(intervals);
  const double width = std::max(seconds_of(allocation.duration), 1e-9) / static_cast<double>(intervals);
  const auto at = [&](std::int64_t time) -> Counts& {
    return counts[std::min(intervals - 1, static_cast<std::size_t>(seconds_of(time) / width))];
  };
  for (const Relocation& relocation : relocations_of(table)) ++at(relocation.time).relocations;
  for_each_replica_change(
      table, [&](std::int64_t time) { ++at(time).set_up; }, [&](std::int64_t time) { ++at(time).dropped; });
  fmt::print(out, "{:>12}{:>18}{:>18}{:>20}\n", "from, s", "relocations/s", "replicas/s",
             "replicas dropped/s");
  for (std::size_t i = 0; i < intervals; ++i) {
    fmt::print(out, "{:>12.3f}{:>18.0f}{:>18.0f}{:>20.0f}\n", static_cast<double>(i) * width,
               static_cast<double>(counts[i].relocations) / width,
               static_cast<double>(counts[i].set_up) / width, static_cast<double>(counts[i].dropped) / width);
  }
}

}  // namespace lapse::apps
