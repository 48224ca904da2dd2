#include "apps/viewer/optimum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "apps/viewer/key_history.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/tracing/allocation_records.hpp"

namespace lapse::apps {

namespace {

// Two sides: one domain, and all others. A key has its main copy on one of them, and the other has a replica,
// or none.
struct TwoSided {
  bool owner = false;       // the side
  bool copy = false;        // on the other one
  bool has_delta = false;   // the replica has changes that the owner lacks
  bool has_change = false;  // the owner has a version that the replica lacks
};
constexpr std::size_t kStates = 10;  // two owners; without a replica, or with one and its two flags

constexpr std::size_t index_of(const TwoSided& state) {
  const std::size_t owner = state.owner ? kStates / 2 : 0;
  return owner + (state.copy ? 1U + (state.has_delta ? 1U : 0U) + (state.has_change ? 2U : 0U) : 0U);
}
constexpr TwoSided state_of(std::size_t index) {
  const std::size_t rest = index % (kStates / 2);
  return {.owner = index >= kStates / 2,
          .copy = rest > 0,
          .has_delta = rest > 0 && ((rest - 1) & 1U) != 0,
          .has_change = rest > 0 && ((rest - 1) & 2U) != 0};
}

// The least cost to reach each state, by dynamic programming over the accesses of a key and the rounds
// between them. Before each, the owner may do anything.
class TwoSidedOptimum {
 public:
  TwoSidedOptimum(const AllocationCosts& costs, bool may_have_replicas, bool first_owner)
      : costs_(costs), may_have_replicas_(may_have_replicas) {
    at_[index_of({.owner = first_owner})].cost = 0;
  }

  // A round of a side: what its copy has added up leaves. The owner then sends its new version to the
  // replica, also to the one whose changes these were.
  void end_round(bool side) {
    manage();
    for (std::size_t i = 0; i < kStates; ++i) {
      TwoSided state = state_of(i);
      Reached reached = at_[i];
      if (reached.cost == kNever || !state.copy) continue;
      if (state.owner == side && state.has_change) {
        state.has_change = false;
        ++reached.work.refreshes;
        reached.cost += costs_.refresh;
      } else if (state.owner != side && state.has_delta) {
        state.has_delta = false;
        state.has_change = true;
        ++reached.work.deltas;
        reached.cost += costs_.delta;
      } else {
        continue;
      }
      at_[i].cost = kNever;
      keep(at_[index_of(state)], reached);
    }
  }

  void access(bool side, bool writes) {
    manage();
    std::array<Reached, kStates> next;
    for (std::size_t i = 0; i < kStates; ++i) {
      if (at_[i].cost == kNever) continue;
      TwoSided state = state_of(i);
      Reached reached = at_[i];
      if (state.owner == side) {
        state.has_change |= state.copy && writes;
      } else if (state.copy) {
        state.has_delta |= writes;
      } else {
        ++(writes ? reached.work.writes : reached.work.reads);
        reached.cost += writes ? costs_.write : costs_.read;
      }
      keep(next[index_of(state)], reached);
    }
    at_ = next;
  }

  // The least of all, when there are no more accesses.
  std::pair<double, AllocationWork> least() const {
    const auto best = std::ranges::min_element(at_, {}, &Reached::cost);
    return {best->cost, best->work};
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Reached {
    double cost = kNever;
    AllocationWork work;
  };

  static void keep(Reached& kept, const Reached& other) {
    if (other.cost < kept.cost) kept = other;
  }

  void manage() {
    std::array<Reached, kStates> next = at_;
    for (std::size_t i = 0; i < kStates; ++i) {
      if (at_[i].cost == kNever) continue;
      const TwoSided state = state_of(i);
      Reached moved = at_[i];
      ++moved.work.moves;
      moved.cost += costs_.move;
      keep(next[index_of({.owner = !state.owner})], moved);
      if (!may_have_replicas_) continue;
      keep(next[index_of({.owner = !state.owner, .copy = true})], moved);
      Reached changed = at_[i];
      if (state.copy) {
        ++changed.work.drops;
        changed.work.deltas += state.has_delta ? 1 : 0;
        changed.cost += costs_.drop + (state.has_delta ? costs_.delta : 0);
      } else {
        ++changed.work.set_ups;
        changed.cost += costs_.set_up;
      }
      keep(next[index_of({.owner = state.owner, .copy = !state.copy})], changed);
    }
    at_ = next;
  }

  const AllocationCosts& costs_;
  const bool may_have_replicas_;
  std::array<Reached, kStates> at_;
};

// Rounds of two sides that matter between two accesses: the first of each, and the first of each after the
// other's, which sends on what that one has brought. `rounds`: of each side; null: it has none.
struct SidedRound {
  std::int64_t time;
  bool side;
};
std::vector<SidedRound> rounds_between(const std::array<const Rounds*, 2>& rounds, std::int64_t from,
                                       std::int64_t to) {
  const auto after = [&](bool side, std::int64_t time) {
    const Rounds* const of_side = rounds[side ? 1 : 0];
    return of_side != nullptr ? of_side->after(time) : Rounds::kNever;
  };
  std::vector<SidedRound> between;
  for (const bool side : {false, true}) {
    const std::int64_t first = after(side, from);
    const std::int64_t second = after(side, after(!side, from));
    for (const std::int64_t time : {first, second})
      if (time <= to && (between.empty() || between.back().time != time || between.back().side != side))
        between.push_back({time, side});
  }
  std::ranges::stable_sort(between, {}, &SidedRound::time);
  return between;
}

// Between a domain and all others. Of several others, it is not known which has what: their rounds cost
// nothing.
std::pair<double, AllocationWork> least_between(const KeyHistory& history, std::int32_t domain,
                                                const TableAllocation& table,
                                                const std::vector<Rounds>& rounds,
                                                const AllocationCosts& costs) {
  const auto side = [&](std::int32_t of) { return of != domain; };
  const bool is_pair = rounds.size() == 2;
  const std::array<const Rounds*, 2> of_sides = {&rounds[static_cast<std::size_t>(domain)],
                                                 is_pair ? &rounds[domain == 0 ? 1 : 0] : nullptr};
  TwoSidedOptimum optimum(costs, table.may_have_replicas, side(history.first_owner));
  std::optional<std::int64_t> last;
  for (const KeyAccess& access : history.accesses) {
    if (last) {
      for (const SidedRound& round : rounds_between(of_sides, *last, access.time))
        optimum.end_round(round.side);
    }
    last = access.time;
    optimum.access(side(access.domain), (access.kind & kTraceWrites) != 0);
  }
  return optimum.least();
}

AllocationWork work_if_stayed(const KeyHistory& history) {
  AllocationWork work;
  for (const KeyAccess& access : history.accesses)
    if (access.domain != history.first_owner)
      ++((access.kind & kTraceWrites) != 0 ? work.writes : work.reads);
  return work;
}

}  // namespace

AllocationWork& AllocationWork::operator+=(const AllocationWork& other) {
  reads += other.reads;
  writes += other.writes;
  moves += other.moves;
  set_ups += other.set_ups;
  deltas += other.deltas;
  refreshes += other.refreshes;
  drops += other.drops;
  return *this;
}

double AllocationCosts::of(const AllocationWork& work) const {
  const auto times = [](std::uint64_t count, double cost) { return static_cast<double>(count) * cost; };
  return times(work.reads, read) + times(work.writes, write) + times(work.moves, move) +
         times(work.set_ups, set_up) + times(work.deltas, delta) + times(work.refreshes, refresh) +
         times(work.drops, drop);
}

AllocationCosts byte_costs(const ValueBytes& bytes) {
  // Sizes of the records of lapse/protocol/records.
  constexpr double kOperation = 16;
  constexpr double kAnswer = 4;
  constexpr double kWant = 8;
  constexpr double kInstruct = 16;
  constexpr double kTransfer = 16;
  constexpr double kVersion = 16;
  constexpr double kDelta = 16;
  constexpr double kAcknowledgement = 8;
  const auto value = static_cast<double>(bytes.value);
  const auto content = static_cast<double>(bytes.content);
  return {.read = kOperation + kAnswer + value,
          .write = kOperation + value + kAnswer,
          .move = kWant + kInstruct + kTransfer + content,
          .set_up = kWant + kVersion + content,
          .delta = kDelta + static_cast<double>(bytes.delta) + kAcknowledgement,
          .refresh = kVersion + content,
          .drop = kDelta + kAcknowledgement};
}

AllocationCosts parse_costs(std::string_view text) {
  AllocationCosts costs;
  const std::map<std::string_view, double*> names = {
      {"read", &costs.read},   {"write", &costs.write},     {"move", &costs.move}, {"set_up", &costs.set_up},
      {"delta", &costs.delta}, {"refresh", &costs.refresh}, {"drop", &costs.drop}};
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t sign = part.find('=');
    const auto found = names.find(part.substr(0, sign));
    double cost = 0;
    const char* const end = part.data() + part.size();
    const bool is_number =
        sign != std::string_view::npos &&
        std::from_chars(part.data() + sign + 1, end, cost) == std::from_chars_result{.ptr = end, .ec = {}};
    if (found == names.end() || !is_number || !std::isfinite(cost) || cost < 0)
      throw ConfigurationError(
          fmt::format("'{}' is no cost: expected read=, write=, move=, set_up=, delta=, refresh= or drop= "
                      "with a number that is not negative, such as read=1.5",
                      part));
    *found->second = cost;
  }
  return costs;
}

std::vector<KeyOptimum> optima_of(const TableAllocation& table, const AllocationCosts& costs) {
  if (table.accesses.empty())
    throw ConfigurationError(fmt::format(
        "the trace has no accesses of table '{}': expected one with the option allocation_trace_events "
        "accesses",
        table.name));
  if (table.domains < 2)
    throw ConfigurationError(
        fmt::format("table '{}' was in one domain, where nothing moves: expected at least 2", table.name));
  const std::vector<Rounds> rounds(table.rounds.begin(), table.rounds.end());
  // Two domains have the same border.
  const std::int32_t cuts = table.domains > 2 ? table.domains : 1;
  std::vector<KeyOptimum> optima;
  for_each_history(table, [&](const KeyHistory& history) {
    KeyOptimum& key = optima.emplace_back();
    key.key = history.key;
    key.accesses = history.accesses.size();
    key.ran = work_of(history, rounds);
    key.stayed = work_if_stayed(history);
    for (std::int32_t domain = 0; domain < cuts; ++domain) {
      const auto [cost, work] = least_between(history, domain, table, rounds, costs);
      key.least_cost += cuts == 1 ? cost : cost / 2;
      key.least += work;
    }
  });
  return optima;
}

}  // namespace lapse::apps
