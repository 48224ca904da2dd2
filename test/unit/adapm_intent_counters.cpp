#include "adapm/intent_counters.hpp"

#include "adapm/intents/intent_effect.hpp"

#include "test/support/catch.hpp"

using namespace adapm;
using Catch::Matchers::Contains;

TEST_CASE("Counters of intents add up over ranks, but for the largest lead") {
  IntentCounters first;
  CHECK(first.clocks_per_round() == 0);
  CHECK(first.mean_lead() == 0);
  first.rounds = 10;
  first.advances = 4;
  first.clocks = 12;
  first.actionable_intents = 2;
  first.lead_clocks = 50;
  first.lead_max_clocks = 40;
  IntentCounters second = first;
  second.lead_max_clocks = 30;
  const IntentStatistics statistics{.ranks = {first, second}, .causes = {}};
  const IntentCounters total = statistics.total();
  CHECK(total.rounds == 20);
  CHECK(total.lead_max_clocks == 40);
  CHECK(total.clocks_per_round() == 3);
  CHECK(total.mean_lead() == 25);
  CHECK_THAT(statistics.to_text(), Contains("clocks_per_round") && Contains("3.00") && Contains("25.00"));
  CHECK_THAT(statistics.to_json(), Contains(R"("total": {"rounds": 20, "advances": 8,)") &&
                                       Contains(R"("mean_lead": 25.000}, "per_rank": [{"rounds": 10,)"));
}

TEST_CASE(
    "Intents that cannot have had an effect are a problem: all had ended, or were for clocks that never "
    "come") {
  using adapm::IntentEffect;
  CHECK(IntentEffect{}.problem().empty());
  CHECK(IntentEffect{.intents = 9, .ended = 8, .future = true, .advanced = true}.problem().empty());
  CHECK(IntentEffect{.intents = 1, .future = false, .advanced = false}.problem().empty());  // immediate
  IntentEffect past{.intents = 3, .ended = 3, .advanced = true};
  CHECK_THAT(past.problem(), Contains("none of the 3 intents had an effect: each had ended"));
  IntentEffect still{.intents = 5, .future = true};
  CHECK_THAT(still.problem(), Contains("5 intents were signaled, and no worker has called advance_clock"));
  past += still;
  CHECK(past.problem().empty());
}
