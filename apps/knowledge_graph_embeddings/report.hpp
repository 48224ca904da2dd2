// Reports of a training to its user.
#pragma once

#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/common/summary.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::apps {

// One line, and a second if held-out triples have entities without training triples.
std::string describe(const KnowledgeGraph& graph);
// For --check: how the files were understood, what they have, and the first triples. Ends with a newline.
std::string describe_data(const KnowledgeGraph& graph);
// One line.
std::string describe(const EpochRecord& record, const KnowledgeGraph& graph);

// The quality at the last evaluation, or with patience at the best; times and communication of the training,
// without evaluations; and all counters of the manager.
Summary summarize(const Trainer& trainer, const KnowledgeGraph& graph, const adapm::Statistics& statistics);

}  // namespace lapse::apps
