// Searches for a run that a fault makes fail.
#pragma once

#include <cstdint>
#include <iostream>
#include <string>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

namespace lapse::test {

inline void expect_violation(const std::string& fault, const ScenarioLimits& limits,
                             std::uint64_t max_seeds = 10000) {
  const CampaignResult result =
      run_campaign(limits, {.steps = UINT64_MAX, .first_seed = 1, .max_seeds = max_seeds});
  INFO(fault);
  REQUIRE(result.failure);
  std::cout << fault << ": found with seed " << result.failure->seed << " after " << result.steps
            << " steps: " << result.failure->problem << "\n";
  // The report also replays the run.
  CHECK(result.failure->report.find("A second run went differently") == std::string::npos);
}

}  // namespace lapse::test
