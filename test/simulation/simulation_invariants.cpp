// Simulation: what holds after every step, and at the end.
#include "test/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/error.hpp"

namespace lapse::test {

void Simulation::check_routes(Key key, std::size_t number) {
  for (const auto& rank : ranks_) {
    const TableShard& table = rank->table(number);
    const KeyView view = table.view(key);
    KeyView in_run;
    in_run.self = view.self;
    in_run.home = view.home;
    const bool runs =
        table.view_absent(key, table.store().find(key), table.definition().members() == 1, in_run);
    if (runs != view.is_absent()) {
      throw InvariantViolation(
          fmt::format("key {} of table {} is {}routed in runs", key.value(), number, runs ? "" : "not "));
    }
    if (!runs) continue;
    const Route route = Router::route_absent(in_run);
    const Route alone = Router().route_own(view, Pin{});
    if (route.action != alone.action || route.to != alone.to || route.by_home != alone.by_home ||
        route.is_entry != alone.is_entry) {
      throw InvariantViolation(
          fmt::format("key {} of table {} is routed to domain {} in runs and to domain {} alone", key.value(),
                      number, route.to.value(), alone.to.value()));
    }
  }
}

void Simulation::check_ownership(bool at_rest) {
  // Some of the keys at each step, the others at later steps; routes of one table at each step.
  constexpr std::uint64_t kKeysOfStep = 5;
  const std::uint64_t keys = scenario_.shape.keys;
  for (std::size_t table = 0; table < SimulatedRank::kTables; ++table) {
    for (std::uint64_t i = 0; i < (at_rest ? keys : std::min(keys, kKeysOfStep)); ++i) {
      const std::uint64_t number = (steps_ * kKeysOfStep + i) % keys;
      const Key key = scenario_.shape.name(Key(number));
      if (at_rest || (steps_ + table) % SimulatedRank::kTables == 0) check_routes(key, table);
      const auto serving = [&](Domain domain) -> const TableShard& {
        return ranks_[domains_.serving_rank(key, domain).index()]->table(table);
      };
      const auto role = [&](Domain domain) { return serving(domain).store().word(key).role(); };
      const TableShard& home = serving(ranks_[0]->table(table).definition().homes.home(key));
      const bool uninitialized = home.is_uninitialized(key);
      std::size_t owners = uninitialized ? 1 : 0;
      for (std::int32_t domain = 0; domain < domains_.domains(); ++domain)
        owners += role(Domain(domain)) == Role::owner ? 1 : 0;
      if (owners > 1 || (at_rest && owners != 1)) {
        throw InvariantViolation(fmt::format("I1: key {} of table {} has {} owners", number, table, owners));
      }
      const Domain named = home.view(key).owner_by_table;
      const bool is_owner = uninitialized || role(named) == Role::owner;
      if (!is_owner && (at_rest || acquisition(role(named)) != Acquisition::join)) {
        throw InvariantViolation(
            fmt::format("the home of key {} of table {} names domain {} as owner, whose role is {}", number,
                        table, named.value(), static_cast<int>(role(named))));
      }
    }
  }
}

void Simulation::check_copies() {
  const auto bound = scenario_.consistency.value_bound();
  if (!bound || !scenario_.counter_rules().eventual) return;
  for (std::uint64_t number = 0; number < std::min<std::uint64_t>(scenario_.shape.keys, 5); ++number) {
    const Key key = scenario_.shape.name(Key(number));
    const std::size_t width = scenario_.shape.width(key);
    const CounterLayout layout{histories_.layout.workers, histories_.layout.width * width};
    std::optional<Counts> least;
    Counts most;
    for (const auto& rank : ranks_) {
      const TableShard& table = rank->table(0);
      std::vector<double> value(table.sizes().length(key));
      if (!table.read(key, reinterpret_cast<std::byte*>(value.data()))) continue;
      const Counts counts = layout.counts(std::span<const double>(value));
      if (!least) least = most = counts;
      for (std::size_t worker = 0; worker < counts.size(); ++worker) {
        (*least)[worker] = std::min((*least)[worker], counts[worker]);
        most[worker] = std::max(most[worker], counts[worker]);
      }
    }
    double lacking = 0;
    for (std::size_t worker = 0; least && worker < most.size(); ++worker)
      lacking += static_cast<double>(most[worker] - (*least)[worker]);
    if (bound->strong && lacking > std::max(1.0, bound->bound)) {
      throw InvariantViolation(
          fmt::format("K9: some copies of key {} lack {} pushes of all workers", number, lacking));
    }
    for (std::size_t worker = 0; least && worker < most.size(); ++worker) {
      const auto difference = static_cast<double>(most[worker] - (*least)[worker]);
      if (difference > std::max(1.0, bound->bound)) {
        throw InvariantViolation(
            fmt::format("K7: copies of key {} differ by {} pushes of worker {}", number, difference, worker));
      }
    }
  }
}

void Simulation::check_end() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (std::size_t worker = 0; worker < ranks_[rank]->workers(); ++worker) {
      if (!ranks_[rank]->workload(worker).finished()) {
        throw InvariantViolation(
            fmt::format("nothing can move and worker {} of rank {} still waits", worker, rank));
      }
    }
  }
  QuiescenceCounts frames;
  for (const auto& rank : ranks_) {
    rank->check_at_rest();
    frames += rank->protocol().frame_counts();
  }
  // A fault delivers records one by one, or drops them.
  if (fault_ == nullptr && frames.sent != frames.received) {
    throw InvariantViolation(
        fmt::format("{} frames were sent and {} received", frames.sent, frames.received));
  }
  check_ownership(true);
  check_copies();
  check_replicas();

  if (histories_.refusals) {
    histories_.refusals->set_active(false);
    for (std::size_t worker = 0; worker < histories_.counters.size(); ++worker)
      histories_.with_failures[worker].replay(histories_.counters[worker]);
  }
  std::vector<Counts> counters;
  std::vector<Assignment> assignments;
  for (std::uint64_t number = 0; number < scenario_.shape.keys; ++number) {
    const Key key = scenario_.shape.name(Key(number));
    const auto value_at_owner = [&](std::size_t table, auto element) {
      std::vector<decltype(element)> value(ranks_[0]->table(table).sizes().length(key));
      const Rank home = domains_.serving_rank(key, ranks_[0]->table(table).definition().homes.home(key));
      const Domain owner = ranks_[home.index()]->table(table).view(key).owner_by_table;
      ranks_[domains_.serving_rank(key, owner).index()]->table(table).read(
          key, reinterpret_cast<std::byte*>(value.data()));
      return value;
    };
    const CounterLayout layout{histories_.layout.workers,
                               histories_.layout.width * scenario_.shape.width(key)};
    counters.push_back(layout.counts(std::span<const double>(value_at_owner(0, double{}))));
    if (!histories_.refusals) histories_.live.check_final(Key(number), counters.back());
    assignments.push_back(Assignment::from(value_at_owner(1, std::int64_t{})));
  }
  check_counters(histories_.counters, counters);
  check_assignments(histories_.assignments, assignments);
}

}  // namespace lapse::test
