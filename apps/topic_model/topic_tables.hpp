// The tables of a topic model.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/topic_model/topic_priors.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

struct TopicTables {
  Table<std::int32_t> words;   // by word: how often each topic occurs
  Table<std::int64_t> totals;  // key 0: how often each topic occurs in all documents

  static constexpr Key kTotals{0};  // the key of totals

  std::array<TableId, 2> ids() const { return {words.id(), totals.id()}; }
};

// Collective. `name`: prefix of the tables' names.
TopicTables create_topic_tables(adapm::ParameterManager& manager, const std::string& name,
                                const TopicPriors& priors, std::optional<Consistency> consistency);

// Not collective.
std::vector<std::int64_t> read_totals(Worker& worker, const TopicTables& tables);

}  // namespace lapse::apps
