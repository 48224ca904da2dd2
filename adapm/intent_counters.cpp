#include "adapm/intent_counters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/statistics/json.hpp"

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

std::string causes_json(const RemoteCauses& table) {
  std::string json = R"({"table": )" + lapse::json_string(table.table);
  for (const RemoteCauseName& name : kRemoteCauses)
    json += fmt::format(R"(, "{}": {})", name.name, table[name.cause]);
  return json + "}";
}

// The causes of at least this share of all.
constexpr double kLeastShare = 0.05;

std::string causes_text(const std::vector<RemoteCauses>& causes) {
  struct Line {
    const RemoteCauseName* name;
    const std::string* table;
    std::uint64_t keys;
  };
  std::vector<Line> lines;
  std::uint64_t all = 0;
  for (const RemoteCauses& table : causes) {
    all += table.sum();
    for (const RemoteCauseName& name : kRemoteCauses)
      lines.push_back({&name, &table.table, table[name.cause]});
  }
  std::ranges::stable_sort(lines, [](const Line& a, const Line& b) { return a.keys > b.keys; });
  std::string text;
  for (const Line& line : lines) {
    const double share = ratio(line.keys, all);
    if (share < kLeastShare) break;
    text += fmt::format("{:<13}{:.0f} %: table '{}', {}: {}\n", "", 100 * share, *line.table,
                        line.name->meaning, line.name->advice);
  }
  return all == 0 ? "" : fmt::format("causes       of {} accesses of keys in other domains\n{}", all, text);
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

void IntentStatistics::add_causes(const std::vector<RemoteCauses>& more) {
  for (const RemoteCauses& one : more) {
    const auto known =
        std::ranges::find_if(causes, [&](const RemoteCauses& table) { return table.table == one.table; });
    RemoteCauses& to = known != causes.end() ? *known : causes.emplace_back(RemoteCauses{.table = one.table});
    for (std::size_t i = 0; i < to.keys.size(); ++i) to.keys[i] += one.keys[i];
  }
}

std::string IntentStatistics::to_json() const {
  std::string per_rank;
  for (const IntentCounters& rank : ranks) per_rank += (per_rank.empty() ? "" : ", ") + counters_json(rank);
  std::string remote;
  for (const RemoteCauses& table : causes) remote += (remote.empty() ? "" : ", ") + causes_json(table);
  return fmt::format(R"({{"total": {}, "per_rank": [{}], "remote": [{}]}})", counters_json(total()), per_rank,
                     remote);
}

std::string IntentStatistics::summary_lines() const {
  const IntentCounters sum = total();
  if (sum.intents == 0) return "intents      none\n" + causes_text(causes);
  return fmt::format(
             "intents      {} signaled, {} acted on: {:.1f} clocks ahead in the mean, {} too late; {} "
             "clocks\n",
             sum.intents, sum.actionable_intents, sum.mean_lead(), sum.late_intents, sum.clocks) +
         causes_text(causes);
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
