// Wanted keys under random interleavings: intents and rounds beside all other events.
#include <iostream>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kSteps = 200'000;  // of each test case, unless SIMULATION_STEPS says otherwise

void expect_no_violation(const ScenarioLimits& limits) {
  const CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps));
  if (result.failure) FAIL(result.failure->report);
  std::cout << result.steps << " steps, " << result.seeds << " seeds, " << result.counters.relocations_in
            << " relocations, " << result.counters.queued_accesses << " accesses queued\n";
}

}  // namespace

TEST_CASE("resets: any scenario without replication") {
  expect_no_violation({.min_ranks = 1, .resets = true});
}

TEST_CASE("replication: any scenario") {
  expect_no_violation({.replication = true});
}
