// The relocation protocol where ranks share memory, with workers on ranks that do not serve a key.
#include <iostream>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kSteps = 300'000;  // per test case, unless SIMULATION_STEPS overrides it

void expect_no_violation(ScenarioLimits limits) {
  limits.sparse = false;
  const CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps));
  if (result.failure) FAIL(result.failure->report);
  std::cout << result.steps << " steps, " << result.seeds << " seeds, " << result.counters.relocations_in
            << " relocations, " << result.counters.queued_accesses << " accesses queued, "
            << result.counters.remote_pulls << " remote pulls, " << result.counters.forwarded
            << " forwarded, " << result.counters.held << " held\n";
  if (result.steps < kSteps) return;  // too few steps to reach every case
  CHECK(result.counters.relocations_in == result.counters.relocations_out);
  CHECK(result.counters.remote_pulls > result.seeds);
  CHECK(result.counters.held > 0);
}

}  // namespace

TEST_CASE("domains: four ranks in two domains, without leases") {
  expect_no_violation({.min_ranks = 4, .max_ranks = 4, .leases = false, .domain_ranks = 2});
}

TEST_CASE("domains: four ranks in two domains, with leases") {
  expect_no_violation({.min_ranks = 4, .max_ranks = 4, .leases = true, .domain_ranks = 2});
}

TEST_CASE("domains: without location caches") {
  expect_no_violation({.min_ranks = 3, .max_ranks = 5, .location_caches = false, .domain_ranks = 2});
}

TEST_CASE("domains: of three ranks and fewer") {
  expect_no_violation({.min_ranks = 3, .max_ranks = 5, .domain_ranks = 3});
}

TEST_CASE("domains: all ranks in one") {
  const CampaignResult result =
      run_campaign({.min_ranks = 2, .max_ranks = 3, .sparse = false, .leases = true, .domain_ranks = 3},
                   CampaignSize::from_environment(kSteps / 4));
  if (result.failure) FAIL(result.failure->report);
  CHECK(result.counters.relocations_in == 0);
}
