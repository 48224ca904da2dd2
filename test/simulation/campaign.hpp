// Many simulations: seed after seed, until enough steps have been made or something is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lapse/core/statistics/counters.hpp"
#include "test/simulation/scenario.hpp"
#include "test/simulation/simulation.hpp"

namespace lapse::test {

// How long a campaign goes on, and which seeds it plays.
struct CampaignSize {
  std::uint64_t steps = 0;  // stop after the seed with which so many have been made
  std::uint64_t first_seed = 1;
  std::uint64_t max_seeds = UINT64_MAX;

  // The environment variables SIMULATION_STEPS (default `steps`) and SIMULATION_SEED (default: from 1; if
  // given, this seed only).
  static CampaignSize from_environment(std::uint64_t steps);
};

struct CampaignResult {
  std::uint64_t steps = 0;
  std::uint64_t seeds = 0;
  // Of the runs without a violation: what the runs have exercised.
  TableCounters counters;
  Simulation::Failures failures;
  Simulation::Runs runs;
  Simulation::Frames frames{};
  std::uint64_t replicas = 0;  // at the ends

  struct Failure {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
    std::string problem;
    std::string report;  // scenario, problem, and the last events of a second run with the same seed
  };
  std::optional<Failure> failure;
};

CampaignResult run_campaign(const ScenarioLimits& limits, const CampaignSize& size);

}  // namespace lapse::test
