#include "adapm/intent_counters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace adapm {

namespace {

double ratio(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

std::string counters_json(const IntentCounters& counters) {
  std::string json = "{";
  for (const IntentCounterField& field : kIntentCounterFields)
    json += fmt::format("\"{}\": {}, ", field.name, counters.*field.member);
  return json + fmt::format(R"("clocks_per_round": {:.3f}, "mean_lead": {:.3f}}})",
                            counters.clocks_per_round(), counters.mean_lead());
}

}  // namespace

IntentCounters& IntentCounters::operator+=(const IntentCounters& other) {
  for (const IntentCounterField& field : kIntentCounterFields) {
    std::uint64_t& value = this->*field.member;
    value = field.is_maximum ? std::max(value, other.*field.member) : value + other.*field.member;
  }
  return *this;
}

double IntentCounters::clocks_per_round() const {
  return ratio(clocks, advances);
}

double IntentCounters::mean_lead() const {
  return ratio(lead_clocks, actionable_intents);
}

IntentCounters IntentStatistics::total() const {
  IntentCounters total;
  for (const IntentCounters& rank : ranks) total += rank;
  return total;
}

std::string IntentStatistics::to_json() const {
  std::string per_rank;
  for (const IntentCounters& rank : ranks) per_rank += (per_rank.empty() ? "" : ", ") + counters_json(rank);
  return fmt::format(R"({{"total": {}, "per_rank": [{}]}})", counters_json(total()), per_rank);
}

std::string IntentStatistics::summary_line() const {
  const IntentCounters sum = total();
  if (sum.intents == 0) return "intents      none\n";
  return fmt::format(
      "intents      {} signaled, {} acted on: {:.1f} clocks ahead in the mean, {} too late; {} clocks\n",
      sum.intents, sum.actionable_intents, sum.mean_lead(), sum.late_intents, sum.clocks);
}

std::string IntentStatistics::to_text() const {
  const IntentCounters sum = total();
  std::string text;
  for (const IntentCounterField& field : kIntentCounterFields)
    text += fmt::format("{:<18}  {:>14}  {}\n", field.name, sum.*field.member, field.meaning);
  text += fmt::format("{:<18}  {:>14.2f}  clocks of a worker in a round in which it advances\n",
                      "clocks_per_round", sum.clocks_per_round());
  return text + fmt::format("{:<18}  {:>14.2f}  clocks before their start at which intents were acted on\n",
                            "mean_lead", sum.mean_lead());
}

}  // namespace adapm
