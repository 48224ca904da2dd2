#include "test/simulation/campaign.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>

namespace lapse::test {

namespace {

constexpr std::size_t kEventsInReport = 50;

struct RunResult {
  std::uint64_t steps = 0;
  TableCounters counters;
  Simulation::Failures failures;
  Simulation::Runs runs;
  Simulation::Frames frames{};
  std::uint64_t replicas = 0;
  std::optional<std::string> problem;
};

RunResult run_once(const Scenario& scenario, const Router& router, const FrameFault* fault,
                   std::function<void(std::string)> sink) {
  RunResult result;
  Simulation simulation(scenario, router, fault);
  if (sink) simulation.trace_to(std::move(sink));
  try {
    simulation.run();
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
  result.steps = simulation.steps();
  result.counters = simulation.counters();
  result.failures = simulation.failures();
  result.runs = simulation.runs();
  result.frames = simulation.frames();
  result.replicas = simulation.replicas();
  return result;
}

// Repeats the run of the seed, with a trace.
CampaignResult::Failure report(const Scenario& scenario, const Router& router, const FrameFault* fault,
                               const RunResult& first) {
  std::deque<std::string> events;
  const RunResult second = run_once(scenario, router, fault, [&](std::string event) {
    events.push_back(std::move(event));
    if (events.size() > kEventsInReport) events.pop_front();
  });
  std::string text = fmt::format("{}\nstep {}: {}\n", scenario.to_string(), first.steps, *first.problem);
  if (second.steps != first.steps || second.problem != first.problem) {
    text += fmt::format("A second run went differently: step {}: {}\n", second.steps,
                        second.problem.value_or("no problem"));
  }
  text += fmt::format("The last {} events:\n", events.size());
  for (const std::string& event : events) text += event + "\n";
  text += fmt::format("To see it again: SIMULATION_SEED={}\n", scenario.seed);
  return {scenario.seed, first.steps, *first.problem, std::move(text)};
}

}  // namespace

CampaignSize CampaignSize::from_environment(std::uint64_t steps) {
  CampaignSize size;
  size.steps = steps;
  if (const char* text = std::getenv("SIMULATION_STEPS")) size.steps = std::strtoull(text, nullptr, 10);
  if (const char* text = std::getenv("SIMULATION_SEED")) {
    size.first_seed = std::strtoull(text, nullptr, 10);
    size.max_seeds = 1;
  }
  return size;
}

CampaignResult run_campaign(const ScenarioLimits& limits, const CampaignSize& size) {
  const Router library_router;
  const Router& router = limits.router == nullptr ? library_router : *limits.router;
  CampaignResult result;
  for (std::uint64_t seed = size.first_seed; result.steps < size.steps && result.seeds < size.max_seeds;
       ++seed) {
    const Scenario scenario = Scenario::draw(seed, limits);
    const RunResult run = run_once(scenario, router, limits.fault, {});
    ++result.seeds;
    result.steps += run.steps;
    if (run.problem) {
      result.failure = report(scenario, router, limits.fault, run);
      break;
    }
    result.counters += run.counters;
    result.failures.calls += run.failures.calls;
    result.failures.localizes += run.failures.localizes;
    result.failures.leases += run.failures.leases;
    result.runs.frames += run.runs.frames;
    result.runs.keys += run.runs.keys;
    result.runs.continued += run.runs.continued;
    for (std::size_t kind = 0; kind < kFrameKinds; ++kind) result.frames[kind] += run.frames[kind];
    result.replicas += run.replicas;
  }
  return result;
}

}  // namespace lapse::test
