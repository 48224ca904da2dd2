// The relocation protocol under random interleavings. A failing seed is printed; README.md explains how to
// replay it.
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
            << " relocations, " << result.counters.queued_accesses << " accesses queued, "
            << result.counters.forwarded << " forwarded, " << result.counters.held << " held\n";
  if (result.steps < kSteps) return;  // too few steps to reach every case
  CHECK(result.counters.relocations_in > result.seeds);
  CHECK(result.counters.relocations_in == result.counters.relocations_out);
  CHECK(result.counters.queued_accesses > result.seeds);
  CHECK(result.counters.remote_pulls > result.seeds);
  CHECK(result.counters.forwarded > 0);
  // Held until no stale location is left.
  if (limits.location_caches == false || limits.max_ranks == 2) {
    CHECK(result.counters.held == 0);
  } else {
    CHECK(result.counters.held > 0);
  }
}

}  // namespace

TEST_CASE("relocation: two ranks") {
  expect_no_violation({.min_ranks = 2, .max_ranks = 2});
}

TEST_CASE("relocation: three ranks without location caches") {
  expect_no_violation({.min_ranks = 3, .max_ranks = 3, .location_caches = false});
}

TEST_CASE("relocation: three to five ranks with location caches") {
  expect_no_violation({.min_ranks = 3, .max_ranks = 5, .location_caches = true});
}

TEST_CASE("relocation: four and five ranks with a home map of the user") {
  expect_no_violation({.min_ranks = 4, .max_ranks = 5, .home = HomeMapKind::custom});
}

TEST_CASE("relocation: any scenario") {
  expect_no_violation({});
}

TEST_CASE("a seed gives the same run each time") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const CampaignSize one{.steps = UINT64_MAX, .first_seed = seed, .max_seeds = 1};
    CHECK(run_campaign({}, one).steps == run_campaign({}, one).steps);
  }
}
