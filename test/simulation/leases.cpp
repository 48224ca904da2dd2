// Leases under random interleavings: of competing workers, over several tables, of keys that other ranks
// localize.
#include <iostream>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kSteps = 300'000;  // per test case, unless SIMULATION_STEPS overrides it

void expect_no_violation(const ScenarioLimits& limits) {
  const CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps));
  if (result.failure) FAIL(result.failure->report);
  std::cout << result.steps << " steps, " << result.seeds << " seeds, " << result.counters.relocations_in
            << " relocations, " << result.counters.queued_accesses << " accesses queued\n";
}

}  // namespace

TEST_CASE("leases: two ranks") {
  expect_no_violation({.min_ranks = 2, .max_ranks = 2, .leases = true});
}

TEST_CASE("leases: one to five ranks") {
  expect_no_violation({.min_ranks = 1, .max_ranks = 5, .leases = true});
}

TEST_CASE("leases: sparse tables") {
  expect_no_violation({.min_ranks = 1, .max_ranks = 4, .sparse = true, .leases = true});
}

// Every call except three throws under a lease. This test shows that the rule is necessary.
TEST_CASE("leases: holders that wait end in a deadlock") {
  ScenarioLimits limits{.min_ranks = 2, .max_ranks = 4, .leases = true};
  limits.holders_wait = true;
  CampaignSize size;
  size.steps = 2'000'000;
  const CampaignResult result = run_campaign(limits, size);
  REQUIRE(result.failure);
  CHECK(result.failure->problem.find("nothing can move") != std::string::npos);
  std::cout << "deadlock after " << result.steps << " steps, seed " << result.failure->seed << "\n";
}
