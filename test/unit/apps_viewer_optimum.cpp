// The viewer's optimum: the least work for the accesses of a trace, beside what ran.
#include "apps/viewer/optimum.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/key_history.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/tracing/allocation_records.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kKey = 5;

TableAllocation table_of(std::int32_t domains) {
  TableAllocation table;
  table.name = "t";
  table.domains = domains;
  table.rounds.resize(static_cast<std::size_t>(domains));
  table.changes = {{.time = 0, .key = kKey, .domain = 0, .state = kTraceOwner}};
  return table;
}

// What one may do with a key between two domains before an access.
enum class Action : std::uint8_t { none, move, move_and_stay, set_up, drop };
constexpr std::array kActions = {Action::none, Action::move, Action::move_and_stay, Action::set_up,
                                 Action::drop};

// The trace of one way to manage a key of two domains; not all actions are possible in all states.
class Managed {
 public:
  explicit Managed(TableAllocation table) : table_(std::move(table)) {}

  bool act(Action action, std::int64_t time) {
    const std::int32_t other = 1 - owner_;
    switch (action) {
      case Action::none:
        return true;
      case Action::move:
      case Action::move_and_stay:
        copy_ = action == Action::move_and_stay;
        change(time, owner_, copy_ ? kTraceCopy : 0);
        change(time, other, kTraceOwner);
        owner_ = other;
        return true;
      case Action::set_up:
      case Action::drop:
        if (copy_ == (action == Action::set_up)) return false;
        copy_ = !copy_;
        change(time, other, copy_ ? kTraceCopy : 0);
        return true;
    }
    return false;
  }
  void access(KeyAccess access) {
    if (access.domain != owner_ && !copy_) access.kind |= kTraceRemote;
    table_.accesses.push_back(access);
  }
  const TableAllocation& table() const { return table_; }

 private:
  void change(std::int64_t time, std::int32_t domain, std::uint8_t state) {
    table_.changes.push_back({.time = time, .key = kKey, .domain = domain, .state = state});
  }

  TableAllocation table_;
  std::int32_t owner_ = 0;
  bool copy_ = false;
};

double cost_as_it_ran(const TableAllocation& table, const AllocationCosts& costs) {
  double cost = 0;
  for (const KeyOptimum& key : optima_of(table, costs)) cost += costs.of(key.ran);
  return cost;
}

// When one may act: at an access, or without one.
struct Chance {
  std::int64_t time = 0;
  std::optional<KeyAccess> access;
};

// The least over all ways to act at each chance, by what they cost when they have run.
double least_by_trying(const Managed& so_far, const std::vector<Chance>& chances, std::size_t next,
                       const AllocationCosts& costs) {
  if (next == chances.size()) return cost_as_it_ran(so_far.table(), costs);
  double least = 1e300;
  for (const Action action : kActions) {
    Managed managed = so_far;
    if (!managed.act(action, chances[next].time)) continue;
    if (chances[next].access) managed.access(*chances[next].access);
    least = std::min(least, least_by_trying(managed, chances, next + 1, costs));
  }
  return least;
}

KeyAccess random_access(RandomEngine& random, std::int64_t time, std::uint64_t domains) {
  return {.time = time,
          .key = kKey,
          .domain = static_cast<std::int32_t>(random.below(domains)),
          .kind = random.below(2) == 0 ? std::uint8_t{kTraceWrites} : std::uint8_t{0}};
}

AllocationCosts random_costs(RandomEngine& random) {
  const auto cost = [&] { return static_cast<double>(random.below(8)); };
  return {.read = cost(),
          .write = cost(),
          .move = cost(),
          .set_up = cost(),
          .delta = cost(),
          .refresh = cost(),
          .drop = cost()};
}

}  // namespace

TEST_CASE("Between two domains, the optimum is the least of all ways to manage a key") {
  constexpr std::size_t kMaxRounds = 3;
  RandomEngine random(7);
  for (int turn = 0; turn < 24; ++turn) {
    INFO("turn " << turn);
    TableAllocation table = table_of(2);
    for (auto& rounds : table.rounds) rounds.push_back(1);  // Otherwise, there is one each ms.
    std::vector<Chance> chances;
    std::vector<KeyAccess> accesses;
    std::size_t rounds = 0;
    for (std::int64_t time = 10; accesses.size() < 4; time += 10) {
      for (const std::int64_t before : {8, 5, 2}) {
        if (accesses.empty() || rounds == kMaxRounds || random.below(3) == 0) continue;
        ++rounds;
        table.rounds[random.below(2)].push_back(time - before);
        chances.push_back({.time = time - before - 1, .access = std::nullopt});
      }
      accesses.push_back(random_access(random, time, 2));
      chances.push_back({.time = time, .access = accesses.back()});
    }
    // The last ones keep a replica, so that what rounds send decides.
    const AllocationCosts costs =
        std::array{random_costs(random), byte_costs({100, 100, 100}),
                   AllocationCosts{.read = 900,
                                   .write = 900,
                                   .move = 900,
                                   .set_up = 500,
                                   .delta = 3,
                                   .refresh = 2,
                                   .drop = 900}}[static_cast<std::size_t>(turn % 3)];
    const double least = least_by_trying(Managed(table), chances, 0, costs);
    table.accesses = accesses;
    const auto optima = optima_of(table, costs);
    REQUIRE(optima.size() == 1);
    CHECK(optima[0].least_cost == least);
    CHECK(costs.of(optima[0].least) == least);
  }
}

TEST_CASE("Between two accesses, a round sends on what another one has brought") {
  TableAllocation table = table_of(2);
  table.rounds = {{12, 18}, {15}};
  table.accesses = {{.time = 10, .key = kKey, .domain = 1, .kind = kTraceWrites},
                    {.time = 20, .key = kKey, .domain = 0, .kind = 0},
                    {.time = 30, .key = kKey, .domain = 1, .kind = 0}};
  const auto optima = optima_of(
      table, {.read = 900, .write = 900, .move = 900, .set_up = 500, .delta = 3, .refresh = 2, .drop = 900});
  CHECK(optima[0].least.set_ups == 1);
  CHECK(optima[0].least.deltas == 1);
  CHECK(optima[0].least.refreshes == 1);
}

TEST_CASE("A key whose table cannot have replicas is moved, or left where it is") {
  TableAllocation table = table_of(2);
  for (auto& rounds : table.rounds) rounds.push_back(1);
  for (std::int64_t time = 10; time < 200; time += 10)
    table.accesses.push_back({.time = time, .key = kKey, .domain = time % 20 == 0 ? 1 : 0, .kind = 0});
  const AllocationCosts costs{.read = 2, .move = 3};
  CHECK(optima_of(table, costs)[0].least_cost == 0);  // Replicas are free.
  table.may_have_replicas = false;
  const auto optima = optima_of(table, costs);
  CHECK(optima[0].least.set_ups == 0);
  CHECK(optima[0].least_cost == 2 * 9);
}

TEST_CASE("What ran is counted: moves, replicas with their deltas and refreshes, and remote accesses") {
  TableAllocation table = table_of(3);
  table.rounds = {{10, 20, 30}, {11, 21, 31}, {12, 22, 32}};
  table.changes.push_back({.time = 1, .key = kKey, .domain = 1, .state = kTraceCopy});
  table.changes.push_back({.time = 2, .key = kKey, .domain = 2, .state = kTraceCopy});
  table.changes.push_back({.time = 33, .key = kKey, .domain = 2, .state = kTraceOwner});
  table.changes.push_back({.time = 33, .key = kKey, .domain = 0, .state = 0});
  table.changes.push_back({.time = 34, .key = kKey, .domain = 1, .state = 0});
  const auto access = [&](std::int64_t time, std::int32_t domain, std::uint8_t kind) {
    table.accesses.push_back({.time = time, .key = kKey, .domain = domain, .kind = kind});
  };
  access(3, 1, kTraceWrites);  // a delta in the round at 11, then a refresh of both replicas at 20
  access(4, 1, kTraceWrites);
  access(5, 2, 0);
  access(23, 0, kTraceWrites);  // two refreshes at 30
  access(40, 1, kTraceRemote);
  access(41, 1, kTraceRemote | kTraceWrites);
  const auto optima = optima_of(table, {.read = 1});
  REQUIRE(optima.size() == 1);
  const AllocationWork& ran = optima[0].ran;
  CHECK(optima[0].accesses == 6);
  CHECK(ran.moves == 1);
  CHECK(ran.set_ups == 2);
  CHECK(ran.deltas == 1);
  CHECK(ran.refreshes == 4);
  CHECK(ran.drops == 1);
  CHECK(ran.reads == 1);
  CHECK(ran.writes == 1);
  CHECK(optima[0].stayed.reads == 2);
  CHECK(optima[0].stayed.writes == 3);
}

TEST_CASE("Among more domains, no way to manage a key costs less than the bound") {
  RandomEngine random(11);
  for (int turn = 0; turn < 400; ++turn) {
    INFO("turn " << turn);
    const std::int32_t domains = 3 + static_cast<std::int32_t>(random.below(2));
    TableAllocation table = table_of(domains);
    for (auto& rounds : table.rounds) rounds.push_back(1);
    std::int32_t owner = 0;
    std::vector<bool> copies(static_cast<std::size_t>(domains), false);
    const auto change = [&](std::int64_t time, std::int32_t domain, std::uint8_t state) {
      table.changes.push_back({.time = time, .key = kKey, .domain = domain, .state = state});
    };
    for (std::int64_t time = 10; time < 400; time += 10) {
      for (auto& rounds : table.rounds)
        if (random.below(3) == 0) rounds.push_back(time - 1 - static_cast<std::int64_t>(random.below(4)));
      const auto domain = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(domains)));
      const auto at = static_cast<std::size_t>(domain);
      if (domain != owner && random.below(4) == 0) {
        copies[at] = !copies[at];
        change(time - 5, domain, copies[at] ? kTraceCopy : 0);
      } else if (domain != owner && random.below(4) == 0) {
        copies[static_cast<std::size_t>(owner)] = random.below(2) == 0;
        change(time - 5, owner, copies[static_cast<std::size_t>(owner)] ? kTraceCopy : 0);
        change(time - 5, domain, kTraceOwner);
        copies[at] = false;
        owner = domain;
      }
      KeyAccess access = random_access(random, time, static_cast<std::uint64_t>(domains));
      if (access.domain != owner && !copies[static_cast<std::size_t>(access.domain)])
        access.kind |= kTraceRemote;
      table.accesses.push_back(access);
    }
    const AllocationCosts costs = random_costs(random);
    const auto optima = optima_of(table, costs);
    REQUIRE(optima.size() == 1);
    CHECK(optima[0].least_cost <= costs.of(optima[0].ran));
    CHECK(optima[0].least_cost <= costs.of(optima[0].stayed));
  }
}

TEST_CASE("A key that no other domain accesses costs nothing at the least") {
  TableAllocation table = table_of(2);
  table.accesses.push_back({.time = 5, .key = kKey, .domain = 0, .kind = kTraceWrites});
  table.accesses.push_back({.time = 6, .key = kKey + 1, .domain = 1, .kind = 0});  // of a sparse table
  for (const KeyOptimum& key : optima_of(table, byte_costs({8, 8, 8}))) {
    CHECK(key.least_cost == 0);
    CHECK(key.accesses == 1);
  }
}

TEST_CASE("Costs of the optimum are read from text") {
  const AllocationCosts costs = parse_costs("read=1.5,drop=.25,move=2");
  CHECK(costs.read == 1.5);
  CHECK(costs.drop == .25);
  CHECK(costs.move == 2);
  CHECK(costs.write == 0);
  for (const char* const text :
       {"reads=1", "read", "read=", "read=1x", "read=-1", "read=inf", "read=nan", "=1", "read=1,,move=2"})
    CHECK_THROWS_WITH(parse_costs(text), Contains("is no cost"));
  CHECK_THROWS_WITH(optima_of(table_of(2), costs), Contains("no accesses of table 't'"));
  TableAllocation alone = table_of(1);
  alone.accesses.push_back({.time = 1, .key = kKey, .domain = 0, .kind = 0});
  CHECK_THROWS_WITH(optima_of(alone, costs), Contains("table 't' was in one domain"));
}
