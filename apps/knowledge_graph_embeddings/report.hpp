// What a training reports to its user.
#pragma once

#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/common/summary.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::apps {

// A line, and one more when held-out triples have entities without training triples.
std::string describe(const KnowledgeGraph& graph);
// One line.
std::string describe(const EpochRecord& record, const KnowledgeGraph& graph);

// Quality at the last evaluation, or with patience at the best, times and communication of the training
// (without the evaluations), and all counters of the manager.
Summary summarize(const Trainer& trainer, const KnowledgeGraph& graph, const adapm::Statistics& statistics);

}  // namespace lapse::apps
