// The parameters of a simulation, drawn from a seed within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lapse/consistency/consistency.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/domain_map.hpp"
#include "lapse/directory/home_map.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/levels/levels.hpp"
#include "test/support/history_counters.hpp"
#include "test/support/random_policy.hpp"
#include "test/support/random_workload.hpp"
#include "test/support/table_shape.hpp"

namespace lapse::test {

struct FrameFault;

// What a test fixes. Everything else is drawn.
struct ScenarioLimits {
  std::int32_t min_ranks = 2;
  std::int32_t max_ranks = 5;
  std::optional<bool> location_caches = {};
  std::optional<HomeMapKind> home = {};
  std::optional<bool> sparse = {};
  std::optional<bool> leases = {};
  std::optional<std::int32_t> domain_ranks = {};  // ranks of each domain; the last may have fewer
  std::optional<bool> lookups = {};
  std::optional<bool> bulk = {};
  std::optional<bool> direct_calls = {};
  bool resets = false;       // of keys of table 0
  bool replication = false;  // keys are wanted and replicated; the next fields refine it
  std::optional<Technique> technique = {};
  std::optional<bool> eventual = {};
  bool upgrades = false;              // short runs in which replicas become main copies
  bool clocked = false;               // replication: the staleness of table 0 is bounded by clocks
  bool valued = false;                // replication: what replicas of table 0 may lack is bounded
  bool strong = false;                // valued: of all workers together
  bool refusals = false;              // keys of table 0 cannot always be made or stored
  bool wrong_owners = false;          // a lookup reads any number
  bool holders_wait = false;          // a deliberate fault: the holder of a lease waits for further keys
  const Router* router = nullptr;     // null: the library's
  const FrameFault* fault = nullptr;  // null: received records are unchanged
};

// How keys are wanted, and how wanted keys are managed.
struct ScenarioReplication {
  bool eventual = true;  // table 0; else its wanted keys are localized, like those of table 1
  Technique technique = Technique::adaptive;
  bool gradients = false;           // pushes to table 0 are merged as gradients, else as differences
  std::uint32_t intents = 2;        // weight among the calls
  std::uint32_t syncs = 0;          // weight among the calls
  std::uint32_t rounds = 4;         // weight of rounds with work among the events
  std::size_t credit_bytes = 0;     // of changed values in flight to each rank
  bool few_moves = false;           // workers seldom ask for main copies
  bool many_moves = false;          // workers localize often
  bool leaves_some = false;         // some intents never end
  bool long_wants = true;           // else every intent ends after a few calls
  std::size_t counter_clients = 1;  // calls on table 0 for each call on table 1

  std::string to_string() const;
};

struct Scenario {
  std::uint64_t seed = 0;
  std::int32_t ranks = 2;
  std::int32_t domain_ranks = 1;
  bool little_memory = false;        // half of the values do not fit into the memory that a domain shares
  std::vector<std::size_t> workers;  // by rank, at least one in total
  TableShape shape;                  // per table
  bool leases = false;
  bool holders_wait = false;
  bool location_caches = true;
  bool lookups = false;  // owners are read from the memory of homes, if that helps
  bool wrong_owners = false;
  bool separate_bulk_lane = true;
  HomeMapKind home = HomeMapKind::hash;
  std::optional<Domain> only_home;  // custom: one home for all keys; else homes are mixed from the key's bits
  std::optional<std::size_t> packet_bytes;  // else the transport's
  bool long_turns = false;                  // several packets and submissions in one engine turn
  bool interruptions = false;               // workers call in the middle of an engine's step
  bool biased = true;                       // some actors are slow for a while
  std::size_t calls = 20;                   // per worker
  double bulk = 0;                          // probability of a call on many keys
  bool direct_calls = false;                // workers carry out calls themselves while the engine is free
  bool resets = false;                      // keys of table 0 are sometimes set to zeros
  std::optional<ScenarioReplication> replication;
  Consistency consistency = Consistency::eventual;  // of table 0, if that is eventual
  std::uint32_t calls_of_clock = 1;                 // on average
  Levels::Groups groups = Levels::Groups::all_workers;
  std::size_t clock_groups = 1;           // of workers with equal numbers modulo this number
  bool refusals = false;                  // table 0; the next fields refine it
  std::uint64_t initialiser_chance = 0;   // percent: an initial value throws
  std::uint64_t memory_chance = 0;        // percent: a rank gets no further memory
  std::optional<std::uint64_t> max_keys;  // the maximum that a rank can store

  static Scenario draw(std::uint64_t seed, const ScenarioLimits& limits);

  std::size_t all_workers() const;
  CounterRules counter_rules() const {
    return {.eventual = replication && replication->eventual, .resets = resets};
  }
  DomainMap domains() const;
  HomeMap home_map(const DomainMap& domains, Domain self) const;
  WorkloadSettings workload(RandomEngine& random) const;
  std::string to_string() const;

 private:
  void draw_replication(const ScenarioLimits& limits);
};

}  // namespace lapse::test
