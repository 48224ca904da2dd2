// Faults that the simulation must find. Each drops one routing rule.
#include <string>

#include "test/simulation/fault_search.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

// Routes every key alone, so that a faulty subclass affects every decision.
class FaultyRouter : public Router {
 public:
  bool routes_runs() const override { return false; }
};

// Fault: ignores the worker's unanswered operations.
class WithoutEntryRule : public FaultyRouter {
 public:
  Route route_own(const KeyView& view, const Pin&) const override { return Router::route_own(view, Pin{}); }
};

// Fault: respects unanswered operations for messages, and ignores them for local execution and queueing.
class EntryRuleForMessagesOnly : public FaultyRouter {
 public:
  Route route_own(const KeyView& view, const Pin& pin) const override {
    if (view.handling != Handling::forward && !view.at_home()) return route_in_domain(view);
    return Router::route_own(view, pin);
  }
};

// Fault: the home reads its own role before it reads its table.
class HomeRoutesByRole : public FaultyRouter {
 public:
  Route route_own(const KeyView& view, const Pin& pin) const override {
    return here(view) ? route_in_domain(view) : Router::route_own(view, pin);
  }
  Route route_received(const KeyView& view, bool by_home) const override {
    return here(view) ? route_in_domain(view) : Router::route_received(view, by_home);
  }

 private:
  static bool here(const KeyView& view) { return view.at_home() && view.handling != Handling::forward; }
};

// Fault: a worker on a rank that does not serve the key uses shared memory while it has an unanswered
// operation.
class NeighbourUsesMemoryAtOnce : public FaultyRouter {
 public:
  Route route_own(const KeyView& view, const Pin& pin) const override {
    if (!view.serves && view.direct == DirectAccess::main) return Route::execute();
    return Router::route_own(view, pin);
  }
};

// Fault: such a worker switches its entry from the home to its domain's serving rank as soon as the key
// arrives there.
class NeighbourSwitchesEntry : public FaultyRouter {
 public:
  Route route_own(const KeyView& view, const Pin& pin) const override {
    if (!view.serves && view.direct == DirectAccess::nothing && view.handling != Handling::forward &&
        pin.unanswered > 0 && pin.entry == view.home) {
      return Route::send_to_entry(view.self);
    }
    return Router::route_own(view, pin);
  }
};

// Fault: an operation does not wait for an earlier operation with a lookup in flight.
class OvertakesLookups : public FaultyRouter {
 public:
  Route route_own(const KeyView& view, const Pin& pin) const override {
    Pin other = pin;
    other.holds = other.unanswered > 0;
    return Router::route_own(view, other);
  }
};

// Routes operations on many keys in correct runs; the fault affects only the operations after them.
template <class Fault>
class BesideRuns : public Fault {
 public:
  bool routes_runs() const override { return true; }
};

void expect_violation_by(const std::string& fault, ScenarioLimits limits, const Router& router) {
  limits.router = &router;
  limits.bulk = limits.bulk.value_or(false);
  expect_violation(fault, limits);
}

}  // namespace

TEST_CASE("simulation finds a router without the entry rule") {
  expect_violation_by("no entry rule", {.location_caches = true}, WithoutEntryRule());
}

TEST_CASE("simulation finds a router without the entry rule by what is promised of replicas, and by resets") {
  expect_violation_by("no entry rule, resets", {.location_caches = true, .resets = true}, WithoutEntryRule());
  expect_violation_by("no entry rule, eventual table",
                      {.location_caches = true, .replication = true, .eventual = true}, WithoutEntryRule());
}

TEST_CASE("simulation finds an entry rule for messages only") {
  expect_violation_by("entry rule for messages only", {.location_caches = true}, EntryRuleForMessagesOnly());
}

TEST_CASE("simulation finds a home that routes by its role with four ranks") {
  expect_violation_by("home routes by its role", {.min_ranks = 4, .max_ranks = 4, .location_caches = false},
                      HomeRoutesByRole());
}

TEST_CASE("simulation finds a neighbour that uses memory while an operation of its own is in flight") {
  for (const bool caches : {false, true}) {
    expect_violation_by(
        "neighbour uses memory at once, caches " + std::string(caches ? "on" : "off"),
        {.min_ranks = 4, .max_ranks = 4, .location_caches = caches, .sparse = false, .domain_ranks = 2},
        NeighbourUsesMemoryAtOnce());
  }
}

TEST_CASE("simulation finds an operation that overtakes one with a lookup in flight") {
  expect_violation_by(
      "overtakes lookups",
      {.min_ranks = 3, .location_caches = true, .home = HomeMapKind::hash, .sparse = false, .lookups = true},
      OvertakesLookups());
}

TEST_CASE("simulation finds single operations that do not follow the runs before them") {
  const ScenarioLimits limits{.location_caches = true, .bulk = true};
  expect_violation_by("no entry rule beside runs", limits, BesideRuns<WithoutEntryRule>());
  expect_violation_by("entry rule for messages only, beside runs", limits,
                      BesideRuns<EntryRuleForMessagesOnly>());
}

TEST_CASE("simulation finds a neighbour that changes the entry from the home to its own domain") {
  expect_violation_by("neighbour switches its entry",
                      {.min_ranks = 4, .max_ranks = 5, .sparse = false, .domain_ranks = 2},
                      NeighbourSwitchesEntry());
}
