// The command line of the topic model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "adapm/technique.hpp"
#include "apps/common/checkpoint_options.hpp"
#include "apps/common/manager_settings.hpp"
#include "apps/report/result_files.hpp"
#include "apps/topic_model/documents.hpp"
#include "apps/topic_model/trainer.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

struct TopicModelOptions {
  DocumentOptions documents;
  std::string held_out;  // file; empty: none
  TopicTrainingOptions training;
  std::optional<adapm::Technique> technique;
  CheckpointOptions checkpoints;
  ManagerSettings settings;
  std::string output;                // file of topics; empty: none
  std::string save_model;            // prefix of files; empty: none
  std::string model;                 // prefix of files: infer topics of the documents; empty: train
  std::string document_topics;       // file; empty: none
  std::size_t top_words = 10;        // of each topic
  std::size_t coherence_words = 10;  // 0: no coherence
  ResultFiles results;
};

// Adds all options to the parser, which fills in `options` when it parses.
void add_options(CLI::App& app, TopicModelOptions& options);

}  // namespace lapse::apps
