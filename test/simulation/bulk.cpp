// Operations of several workers on many keys, mixed with operations on single ones of these keys, while the
// keys move.
#include <iostream>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kSteps = 200'000;  // per test case, unless SIMULATION_STEPS overrides it

void expect_no_violation(ScenarioLimits limits) {
  limits.bulk = true;
  const CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps));
  if (result.failure) FAIL(result.failure->report);
  std::cout << result.steps << " steps, " << result.seeds << " seeds, " << result.runs.keys << " keys in "
            << result.runs.frames << " runs, " << result.runs.continued << " of them continued, "
            << result.counters.relocations_in << " relocations, " << result.counters.queued_accesses
            << " accesses queued, " << result.counters.forwarded << " forwarded, " << result.counters.held
            << " held\n";
  if (result.steps < kSteps) return;  // too few steps to reach every case
  CHECK(result.runs.frames > result.seeds);
  CHECK(result.runs.keys > 2 * result.runs.frames);
  CHECK(result.runs.continued > 0);
  CHECK(result.counters.relocations_in > result.seeds);
  CHECK(result.counters.queued_accesses > result.seeds);
  CHECK(result.counters.forwarded > result.seeds);
}

}  // namespace

TEST_CASE("bulk: any scenario") {
  expect_no_violation({});
}

TEST_CASE("bulk: with and without location caches") {
  for (const bool caches : {true, false}) expect_no_violation({.min_ranks = 3, .location_caches = caches});
}

TEST_CASE("bulk: workers carry out their calls, from the rows that they were given") {
  expect_no_violation({.direct_calls = true});
}

TEST_CASE("bulk: ranks that share memory") {
  expect_no_violation({.min_ranks = 3, .max_ranks = 5, .sparse = false, .domain_ranks = 2});
}

TEST_CASE("bulk: lookups of owners, sparse tables, leases") {
  expect_no_violation(
      {.min_ranks = 3, .location_caches = true, .home = HomeMapKind::hash, .sparse = false, .lookups = true});
  expect_no_violation({.sparse = true});
  expect_no_violation({.leases = true});
}
