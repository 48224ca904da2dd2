// Wanted keys under random interleavings: intents and rounds mixed with all other events.
#include <array>
#include <iostream>
#include <utility>

#include "test/simulation/campaign.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kSteps = 400'000;  // per test case, unless SIMULATION_STEPS overrides it

CampaignResult expect_no_violation(const ScenarioLimits& limits) {
  CampaignResult result = run_campaign(limits, CampaignSize::from_environment(kSteps));
  if (result.failure) FAIL(result.failure->report);
  std::cout << result.steps << " steps, " << result.seeds << " seeds, " << result.counters.relocations_in
            << " relocations, " << result.counters.queued_accesses << " accesses queued\n";
  return result;
}

void expect_copies(const ScenarioLimits& limits) {
  const CampaignResult result = expect_no_violation(limits);
  constexpr std::array<std::pair<FrameKind, const char*>, 11> kKinds{
      {{FrameKind::on, "ON"},
       {FrameKind::snapshot, "SNAPSHOT"},
       {FrameKind::delta, "DELTA"},
       {FrameKind::refresh, "REFRESH"},
       {FrameKind::credit, "CREDIT"},
       {FrameKind::offer, "OFFER"},
       {FrameKind::off, "OFF"},
       {FrameKind::acknowledge, "ACKNOWLEDGE"},
       {FrameKind::transfer_with_members, "TRANSFER_WITH_MEMBERS"},
       {FrameKind::sync, "SYNC"},
       {FrameKind::sync_answer, "SYNC_ANSWER"}}};
  for (const auto& [kind, name] : kKinds) {
    const std::uint64_t frames = result.frames[static_cast<std::size_t>(kind)];
    std::cout << "  " << frames << " " << name << "\n";
    if (result.steps >= kSteps) CHECK(frames > 0);
  }
  std::cout << "  " << result.replicas << " replicas at the ends\n";
  if (result.steps >= kSteps) CHECK(result.replicas > 0);
}

}  // namespace

TEST_CASE("resets: any scenario without replication") {
  expect_no_violation({.min_ranks = 1, .resets = true});
}

TEST_CASE("replication: two to four ranks, each a domain") {
  expect_copies({.max_ranks = 4, .domain_ranks = 1, .replication = true, .eventual = true});
}

TEST_CASE("replication: any answers of policies") {
  expect_copies({.replication = true, .technique = Technique::adversarial, .eventual = true});
}

TEST_CASE("replication: a table that is not replicated") {
  const CampaignResult result = expect_no_violation({.replication = true, .eventual = false});
  CHECK(result.replicas == 0);
}

TEST_CASE("replication: any scenario") {
  expect_copies({.replication = true});
}

TEST_CASE("replication: many members") {
  expect_copies({.min_ranks = 5, .domain_ranks = 1, .replication = true, .eventual = true});
}

TEST_CASE("replication: replicas that become main copies") {
  expect_copies({.max_ranks = 4,
                 .leases = false,
                 .domain_ranks = 1,
                 .replication = true,
                 .eventual = true,
                 .upgrades = true});
}

TEST_CASE("replication: domains of several ranks, resets") {
  for (const std::int32_t ranks : {2, 3}) {
    expect_copies({.min_ranks = 4,
                   .sparse = false,
                   .domain_ranks = ranks,
                   .resets = true,
                   .replication = true,
                   .eventual = true});
  }
}

TEST_CASE("replication: refusals") {
  expect_no_violation({.replication = true, .eventual = true, .refusals = true});
}

TEST_CASE("clocks: the staleness of replicas is bounded where each rank is a domain") {
  expect_copies({.min_ranks = 1,
                 .max_ranks = 4,
                 .domain_ranks = 1,
                 .replication = true,
                 .eventual = true,
                 .clocked = true});
}

TEST_CASE("clocks: the staleness of replicas is bounded in any scenario") {
  expect_copies({.min_ranks = 2, .replication = true, .eventual = true, .clocked = true});
}

TEST_CASE("values: what replicas may lack is bounded where each rank is a domain") {
  expect_copies({.min_ranks = 2,
                 .max_ranks = 4,
                 .domain_ranks = 1,
                 .replication = true,
                 .eventual = true,
                 .valued = true});
}

TEST_CASE("values: what replicas may lack is bounded in any scenario") {
  expect_copies({.min_ranks = 2, .replication = true, .eventual = true, .valued = true});
}

TEST_CASE("values: with a bound of clocks, too") {
  expect_copies({.min_ranks = 2, .replication = true, .eventual = true, .clocked = true, .valued = true});
}

TEST_CASE("values: what replicas may lack of all workers' changes is bounded where each rank is a domain") {
  expect_copies({.min_ranks = 2,
                 .max_ranks = 4,
                 .domain_ranks = 1,
                 .replication = true,
                 .eventual = true,
                 .valued = true,
                 .strong = true});
}

TEST_CASE("values: what replicas may lack of all workers' changes is bounded in any scenario") {
  expect_copies({.min_ranks = 2,
                 .replication = true,
                 .eventual = true,
                 .clocked = true,
                 .valued = true,
                 .strong = true});
  expect_copies({.min_ranks = 2, .replication = true, .eventual = true, .valued = true, .strong = true});
}
