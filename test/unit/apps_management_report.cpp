// The summary's report on the management of keys.
#include "apps/common/management_report.hpp"
#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using namespace lapse::apps;

namespace {

adapm::Statistics statistics_of(const adapm::IntentCounters& intents) {
  adapm::Statistics statistics;
  statistics.intents.ranks = {intents};
  return statistics;
}

Summary managed(const PhaseCost& cost, const adapm::IntentCounters& intents) {
  Summary summary;
  add_management(summary, adapm::Technique::adaptive, cost, statistics_of(intents), 2);
  return summary;
}

}  // namespace

TEST_CASE("a summary shows how old copies were, and how far ahead and how late intents were acted on") {
  PhaseCost cost;
  cost.accesses.read_samples = 4;
  cost.accesses.stale_versions = 6;
  cost.accesses.stale_nanoseconds = 8'000'000;
  adapm::IntentCounters intents;
  intents.actionable_intents = 200;
  intents.late_intents = 1;
  intents.lead_clocks = 3000;
  const Summary summary = managed(cost, intents);
  CHECK_THAT(summary.to_text(), Contains("  age of copies at reading          2.000 ms\n"));
  CHECK_THAT(summary.to_text(), Contains("  intents acted on                  15.0 clocks ahead\n"));
  CHECK_THAT(summary.to_text(), Contains("  intents acted on too late         0.500 %\n"));
  CHECK_THAT(summary.to_json(), Contains("\"late_share\": 0.005"));
}

TEST_CASE("a summary names the most frequent cause of accesses in other domains") {
  CHECK_THAT(managed({}, {}).to_json(), Contains(R"("remote_cause": "none")"));
  adapm::Statistics statistics = statistics_of({});
  adapm::RemoteCauses words{.table = "words"};
  words[adapm::RemoteCause::never_announced] = 10;
  words[adapm::RemoteCause::on_its_way] = 20;
  adapm::RemoteCauses topics{.table = "topics"};
  topics[adapm::RemoteCause::after_end] = 70;
  statistics.intents.causes = {words, topics};
  Summary summary;
  add_management(summary, adapm::Technique::adaptive, {}, statistics, 1);
  CHECK_THAT(summary.to_text(),
             Contains("  most frequent cause               after_end in table topics: 70 %\n"));
}

TEST_CASE(
    "a summary has no age of copies that no worker read, and no lead of intents that were not acted on") {
  const Summary summary = managed({}, {});
  CHECK_THAT(summary.to_text(), Contains("  age of copies at reading          none were read\n"));
  CHECK_THAT(summary.to_text(), Contains("  intents acted on                  none\n"));
  CHECK_THAT(summary.to_json(), Contains("\"stale_seconds\": null"));
  CHECK_THAT(summary.to_json(), Contains("\"stale_versions\": null"));
  CHECK_THAT(summary.to_json(), Contains("\"mean_lead\": null"));
}
