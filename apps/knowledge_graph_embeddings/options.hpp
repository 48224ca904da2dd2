// The command line of the knowledge graph embeddings.
#pragma once

#include <optional>
#include <string>

#include "adapm/technique.hpp"
#include "apps/common/checkpoint_options.hpp"
#include "apps/common/manager_settings.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "apps/report/result_files.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

struct KnowledgeGraphOptions {
  DataOptions data;
  TrainingOptions training;
  std::optional<adapm::Technique> technique;  // for the mode with intents
  CheckpointOptions checkpoints;
  ManagerSettings settings;
  bool check = false;         // only says how the data is understood
  std::string initial;        // a trained model to start from; empty: none
  std::string output_prefix;  // of the files of the embeddings; empty: none
  ResultFiles results;
};

// Adds all options to the parser, which fills in `options` when it parses.
void add_options(CLI::App& app, KnowledgeGraphOptions& options);

}  // namespace lapse::apps
