#include "apps/topic_model/topic_tables.hpp"

namespace lapse::apps {

TopicTables create_topic_tables(adapm::ParameterManager& manager, const std::string& name,
                                const TopicPriors& priors, std::optional<Consistency> consistency) {
  return {manager.create_table<std::int32_t>({.name = name + "-words",
                                              .keys = priors.words,
                                              .length = priors.topics(),
                                              .consistency = consistency}),
          manager.create_table<std::int64_t>(
              {.name = name + "-totals", .keys = 1, .length = priors.topics(), .consistency = consistency})};
}

std::vector<std::int64_t> read_totals(Worker& worker, const TopicTables& tables) {
  std::vector<std::int64_t> totals(tables.totals.length());
  worker.pull(tables.totals, TopicTables::kTotals, totals).wait();
  return totals;
}

}  // namespace lapse::apps
