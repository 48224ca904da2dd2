// Under random interleavings, keys that cannot be made at their homes, or stored where they are requested. No
// key is lost, every wait is answered, the sums are right, and only what may fail does.
#include <iostream>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kSteps = 200'000;  // per test case, unless SIMULATION_STEPS overrides it

void expect_no_violation(ScenarioLimits limits) {
  limits.refusals = true;
  const CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps));
  if (result.failure) FAIL(result.failure->report);
  std::cout << result.steps << " steps, " << result.seeds << " seeds, " << result.counters.relocations_in
            << " relocations, " << result.failures.calls << " failed calls, " << result.failures.localizes
            << " failed localizes, " << result.failures.leases << " failed leases\n";
  if (result.steps < kSteps) return;  // too few steps to reach every case
  CHECK(result.counters.relocations_in > result.seeds);
  CHECK(result.counters.relocations_in == result.counters.relocations_out);
  if (limits.sparse == true) CHECK(result.failures.calls > result.seeds);
  // Dense tables can lack memory until their first slab is allocated.
  CHECK(result.failures.localizes > (limits.sparse == true ? result.seeds : 50));
  CHECK(result.failures.leases > (limits.sparse == true ? result.seeds / 2 : 10));
}

}  // namespace

TEST_CASE("refusals: two ranks") {
  expect_no_violation({.min_ranks = 2, .max_ranks = 2, .sparse = true, .leases = true});
}

TEST_CASE("refusals: two to five ranks") {
  expect_no_violation({.min_ranks = 2, .max_ranks = 5, .sparse = true, .leases = true});
}

TEST_CASE("refusals: domains of two and three ranks that lack memory") {
  expect_no_violation({.min_ranks = 3, .max_ranks = 5, .sparse = false, .leases = true, .domain_ranks = 2});
  expect_no_violation({.min_ranks = 4, .max_ranks = 5, .sparse = false, .leases = true, .domain_ranks = 3});
}
