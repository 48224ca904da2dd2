// The command line of the topic model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "adapm/technique.hpp"
#include "apps/common/checkpoint_options.hpp"
#include "apps/common/manager_settings.hpp"
#include "apps/topic_model/trainer.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

struct TopicModelOptions {
  std::string documents;   // file
  std::string vocabulary;  // file; empty: none
  TopicTrainingOptions training;
  std::optional<adapm::Technique> technique;
  CheckpointOptions checkpoints;
  ManagerSettings settings;
  std::string output;          // file of topics; empty: none
  std::size_t top_words = 10;  // of each topic
  std::string summary_json;    // file; empty: none
};

// Adds all options to the parser, which fills in `options` when it parses.
void add_options(CLI::App& app, TopicModelOptions& options);

}  // namespace lapse::apps
