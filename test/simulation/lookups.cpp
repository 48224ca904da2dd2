// The relocation protocol where ranks look up owners by reading the memory of the homes. A read owner may be
// arbitrarily stale.
#include <iostream>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kSteps = 300'000;  // per test case, unless SIMULATION_STEPS overrides it

void expect_no_violation(ScenarioLimits limits) {
  limits.location_caches = true;
  limits.sparse = false;
  limits.lookups = true;
  const CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps));
  if (result.failure) FAIL(result.failure->report);
  std::cout << result.steps << " steps, " << result.seeds << " seeds, " << result.counters.relocations_in
            << " relocations, " << result.counters.owner_lookups << " owner lookups, "
            << result.counters.forwarded << " forwarded, " << result.counters.held << " held\n";
  if (result.steps < kSteps) return;  // too few steps to reach every case
  CHECK(result.counters.owner_lookups > result.seeds / 2);
  CHECK(result.counters.relocations_in == result.counters.relocations_out);
  // Some owners were stale when the lookup returned them.
  CHECK(result.counters.forwarded > 0);
}

}  // namespace

TEST_CASE("lookups: three to five ranks") {
  expect_no_violation({.min_ranks = 3, .max_ranks = 5, .home = HomeMapKind::hash});
}

TEST_CASE("lookups: four and five ranks, homes in blocks, with leases") {
  expect_no_violation({.min_ranks = 4, .max_ranks = 5, .home = HomeMapKind::range, .leases = true});
}

TEST_CASE("lookups: three domains, two of them of two ranks") {
  for (const HomeMapKind home : {HomeMapKind::hash, HomeMapKind::range})
    expect_no_violation({.min_ranks = 5, .max_ranks = 5, .home = home, .domain_ranks = 2});
}

TEST_CASE("lookups: whatever is read is a hint only") {
  for (const std::int32_t domain_ranks : {1, 2}) {
    expect_no_violation({.min_ranks = 5,
                         .max_ranks = 5,
                         .home = HomeMapKind::hash,
                         .domain_ranks = domain_ranks,
                         .wrong_owners = true});
  }
}

TEST_CASE("lookups: none without location caches or where they would be of no use") {
  for (const ScenarioLimits& limits : {ScenarioLimits{.location_caches = false, .lookups = true},
                                       ScenarioLimits{.max_ranks = 2, .lookups = true},
                                       ScenarioLimits{.home = HomeMapKind::custom, .lookups = true},
                                       ScenarioLimits{.sparse = true, .lookups = true}}) {
    const CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps / 20));
    if (result.failure) FAIL(result.failure->report);
    CHECK(result.counters.owner_lookups == 0);
  }
}
