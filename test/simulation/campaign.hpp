// Runs simulations, seed after seed, until enough steps have been made or a run fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lapse/core/statistics/counters.hpp"
#include "test/simulation/scenario.hpp"
#include "test/simulation/simulation.hpp"

namespace lapse::test {

// The length of a campaign, and the seeds it runs.
struct CampaignSize {
  std::uint64_t steps = 0;  // stop after the seed that reaches this number of steps
  std::uint64_t first_seed = 1;
  std::uint64_t max_seeds = UINT64_MAX;

  // Reads the environment variables SIMULATION_STEPS (default `steps`) and SIMULATION_SEED (default: seeds
  // from 1; if given, only this seed).
  static CampaignSize from_environment(std::uint64_t steps);
};

struct CampaignResult {
  std::uint64_t steps = 0;
  std::uint64_t seeds = 0;
  // Sums over the runs without a violation, to show what the runs have exercised.
  TableCounters counters;
  Simulation::Failures failures;
  Simulation::Runs runs;
  Simulation::Frames frames{};
  std::uint64_t replicas = 0;  // at the end of the runs

  struct Failure {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
    std::string problem;
    std::string report;  // scenario, problem, and the last events of a repetition with the same seed
  };
  std::optional<Failure> failure;
};

CampaignResult run_campaign(const ScenarioLimits& limits, const CampaignSize& size);

}  // namespace lapse::test
