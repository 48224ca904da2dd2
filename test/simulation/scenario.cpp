#include "test/simulation/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "lapse/core/random.hpp"

namespace lapse::test {

Scenario Scenario::draw(std::uint64_t seed, const ScenarioLimits& limits) {
  RandomEngine random(seed, 1);
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return low + random.below(high - low + 1);
  };
  const auto coin = [&] { return random.below(2) == 1; };
  Scenario scenario;
  scenario.seed = seed;
  scenario.ranks = static_cast<std::int32_t>(
      between(static_cast<std::uint64_t>(limits.min_ranks), static_cast<std::uint64_t>(limits.max_ranks)));
  for (std::int32_t rank = 0; rank < scenario.ranks; ++rank) scenario.workers.push_back(between(0, 3));
  if (scenario.all_workers() == 0) scenario.workers.back() = 1;
  scenario.shape.keys = coin() ? 1 : between(2, 4);
  scenario.location_caches = limits.location_caches.value_or(coin());
  scenario.separate_bulk_lane = between(0, 3) > 0;
  scenario.home = limits.home.value_or(static_cast<HomeMapKind>(between(0, 2)));
  if (coin()) scenario.only_home = Domain(static_cast<std::int32_t>(random.below(scenario.workers.size())));
  scenario.long_turns = coin();
  scenario.interruptions = coin();
  scenario.biased = between(0, 3) > 0;
  scenario.calls = between(5, 40);
  scenario.shape.sparse = limits.sparse.value_or(coin());
  scenario.shape.own_lengths = coin();
  scenario.leases = limits.leases.value_or(coin());
  scenario.holders_wait = limits.holders_wait;
  scenario.wrong_owners = limits.wrong_owners;
  scenario.domain_ranks = limits.domain_ranks.value_or(1);
  scenario.little_memory = scenario.domain_ranks > 1 && coin();
  // One record to a few records.
  if (coin()) scenario.packet_bytes = between(1, 300);
  scenario.lookups = limits.lookups.value_or(coin());
  scenario.refusals = limits.refusals;
  if (scenario.refusals && scenario.shape.sparse) {
    if (coin()) scenario.initialiser_chance = between(10, 90);
    if (scenario.initialiser_chance == 0 || coin()) {
      scenario.shape.keys = between(2, 5);
      scenario.max_keys = between(1, scenario.shape.keys - 1);
    }
  } else if (scenario.refusals) {
    scenario.memory_chance = between(60, 99);
  }
  if (!scenario.refusals && limits.bulk.value_or(between(0, 3) == 0)) {
    scenario.bulk = coin() ? 0.2 : 0.6;
    scenario.shape.keys = between(6, 40);
    scenario.shape.own_lengths = between(0, 3) == 0;
    scenario.calls = between(5, 25);
  }
  // A worker that drives the engine cannot be in the middle of an engine step.
  scenario.direct_calls = !scenario.refusals && limits.direct_calls.value_or(between(0, 3) == 0);
  if (scenario.direct_calls) scenario.interruptions = false;
  scenario.resets = limits.resets && !scenario.refusals;
  if (limits.replication) scenario.draw_replication(limits);
  return scenario;
}

void Scenario::draw_replication(const ScenarioLimits& limits) {
  // Drawn separately: a seed without replication still gives the same run.
  RandomEngine random(seed, 4);
  const auto one_of = [&](auto... values) {
    const std::array choices{values...};
    return choices[random.below(choices.size())];
  };
  ScenarioReplication drawn;
  drawn.eventual = limits.eventual.value_or(random.below(4) > 0);
  drawn.technique = limits.technique.value_or(static_cast<Technique>(random.below(kTechniques)));
  drawn.gradients = random.below(2) == 0;
  drawn.intents = one_of(2U, 4U, 8U, 16U);
  drawn.rounds = one_of(1U, 4U, 16U, 64U);
  drawn.leaves_some = random.below(2) == 0;
  drawn.counter_clients = one_of(std::size_t{1}, std::size_t{4});
  drawn.long_wants = random.below(2) == 0;
  if (bulk == 0) calls = random.below(4) == 0 ? 100 + random.below(300) : 20 + random.below(60);
  if (bulk == 0 && random.below(3) == 0) shape.keys = 1;
  drawn.few_moves = random.below(3) > 0;
  drawn.syncs = one_of(0U, 1U, 3U);
  drawn.credit_bytes = one_of(std::size_t{1}, std::size_t{200}, std::size_t{2000}, std::size_t{1} << 20);
  if (limits.upgrades) {
    // Few calls, so that a change from a replica is sometimes the last change of its key.
    calls = 4 + random.below(10);
    bulk = 0;
    shape.keys = 1 + random.below(2);
    drawn.intents = 16;
    drawn.leaves_some = true;
    drawn.long_wants = true;
    drawn.few_moves = false;
    drawn.many_moves = true;
    drawn.rounds = one_of(1U, 4U);
  }
  replication = drawn;
  if (!refusals) resets = resets || random.below(3) == 0;
  if (!limits.domain_ranks) domain_ranks = 1 + static_cast<std::int32_t>(random.below(3));
  little_memory = domain_ranks > 1 && random.below(4) == 0;
  if (!limits.clocked && !limits.valued) return;
  resets = false;
  const std::uint32_t staleness = one_of(0U, 0U, 1U, 3U);
  calls_of_clock = one_of(2U, 4U, 8U);
  if (limits.valued) {
    replication->gradients = false;
    const ValueBound bound{.bound = one_of(0.5, 1.0, 2.0, 5.0), .strong = limits.strong};
    consistency = limits.clocked ? Consistency::cvap(staleness, bound) : Consistency::vap(bound);
  } else {
    consistency = one_of(Consistency::cap(staleness), Consistency::essp(staleness),
                         staleness == 0 ? Consistency::bsp : Consistency::cap(staleness));
  }
  using Groups = Levels::Groups;
  groups = one_of(Groups::all_workers, Groups::together, Groups::in_slots, Groups::in_slots,
                  limits.clocked ? Groups::joining : Groups::all_workers);
  if (groups == Groups::together || groups == Groups::in_slots)
    clock_groups = std::min<std::size_t>(1 + random.below(3), all_workers());
}

std::string ScenarioReplication::to_string() const {
  return fmt::format(
      ", {} replication ({}, {}{}, intents {}{}, syncs {}, rounds {}{}, calls on table 0 {} : 1, credit {} "
      "bytes)",
      test::to_string(technique), eventual ? "eventual" : "sequential",
      gradients ? "gradients" : "differences", leaves_some ? ", some intents stay" : "", intents,
      long_wants ? "" : " for a few calls", syncs, rounds,
      few_moves    ? ", nearly no localize and lease"
      : many_moves ? ", many localizes"
                   : "",
      counter_clients, credit_bytes);
}

std::size_t Scenario::all_workers() const {
  return std::accumulate(workers.begin(), workers.end(), std::size_t{0});
}

DomainMap Scenario::domains() const {
  // Sparse tables never share memory.
  return DomainMap::of_hosts(std::vector<std::int32_t>(static_cast<std::size_t>(ranks), 0),
                             shape.sparse ? 1 : domain_ranks);
}

HomeMap Scenario::home_map(const DomainMap& domains, Domain self) const {
  const std::int32_t count = domains.domains();
  const auto function = [only = only_home, count, seed = seed](Key key) {
    const std::uint64_t mixed = mix_bits(key.value() + seed) % static_cast<std::uint64_t>(count);
    return only ? only->value() % count : static_cast<std::int32_t>(mixed);
  };
  if (home == HomeMapKind::custom) {
    return shape.sparse ? HomeMap::sparse_custom(count, self, function)
                        : HomeMap::custom(shape.keys, count, self, function);
  }
  if (shape.sparse) return HomeMap::sparse_hash(count, self);
  return home == HomeMapKind::hash ? HomeMap::hash(shape.keys, count, self)
                                   : HomeMap::range(shape.keys, count, self);
}

WorkloadSettings Scenario::workload(RandomEngine& random) const {
  WorkloadSettings settings = WorkloadSettings::random(random, calls);
  settings.bulk = bulk;
  // Any later call would report a failure.
  if (refusals) settings.detached = 0;
  if (replication) {
    settings.weights[static_cast<std::size_t>(Call::intent)] = replication->intents;
    settings.long_intents = replication->long_wants;
    settings.weights[static_cast<std::size_t>(Call::sync)] = replication->syncs;
  }
  if (resets) settings.weights[static_cast<std::size_t>(Call::set)] = 4;
  if (replication && replication->few_moves) {
    settings.weights[static_cast<std::size_t>(Call::localize)] = 0;
    settings.weights[static_cast<std::size_t>(Call::lease)] = random.below(4) == 0 ? 1 : 0;
  }
  if (replication && replication->many_moves) settings.weights[static_cast<std::size_t>(Call::localize)] = 8;
  if (!leases) settings.weights[static_cast<std::size_t>(Call::lease)] = 0;
  if (consistency.value_bound()) {
    for (const Call call : {Call::set, Call::call, Call::lease, Call::update_if_local, Call::push_elements})
      settings.weights[static_cast<std::size_t>(call)] = 0;
  }
  if (holders_wait) {
    settings.weights[static_cast<std::size_t>(Call::lease)] = 8;
    settings.max_touches = 3;
  }
  return settings;
}

std::string Scenario::to_string() const {
  return fmt::format(
      "seed {}: {} ranks in domains of {}{}, workers by rank {}, {} {} keys{}, leases {}, caches {}, "
      "lookups {}, "
      "{} lanes, packets {}, home map {}{}, "
      "{} turns, "
      "{} interruptions, {} speeds, {} calls of each worker{}{}{}{}{}{}",
      seed, ranks, domain_ranks, little_memory ? " with little memory" : "", workers, shape.keys,
      shape.sparse ? "sparse" : "dense", shape.own_lengths ? " with own lengths" : "", leases ? "on" : "off",
      location_caches ? "on" : "off", lookups ? "on" : "off", separate_bulk_lane ? 2 : 1,
      packet_bytes ? fmt::format("up to {} bytes", *packet_bytes) : "as usual", home_map_name(home),
      home == HomeMapKind::custom && only_home ? fmt::format(" (all at rank {})", only_home->value()) : "",
      long_turns ? "long" : "short", interruptions ? "with" : "no", biased ? "uneven" : "even", calls,
      bulk > 0 ? fmt::format(", {} of them on many keys", bulk) : "",
      direct_calls ? ", carried out by the worker" : "", resets ? ", with resets" : "",
      replication ? replication->to_string() : "",
      consistency == Consistency::eventual
          ? ""
          : fmt::format(", {}, {} calls a clock{}", consistency.to_string(), calls_of_clock,
                        groups == Levels::Groups::all_workers ? ""
                        : groups == Levels::Groups::joining
                            ? ", workers join and leave"
                            : fmt::format(", {} groups {}", clock_groups,
                                          groups == Levels::Groups::in_slots ? "in slots" : "together")),
      !refusals ? ""
                : fmt::format(", initial values throw {} %, no memory {} %, room for {} keys",
                              initialiser_chance, memory_chance, max_keys.value_or(shape.keys)));
}

}  // namespace lapse::test
