// The command line of the word vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "adapm/technique.hpp"
#include "apps/common/checkpoint_options.hpp"
#include "apps/common/corpus.hpp"
#include "apps/common/manager_settings.hpp"
#include "apps/report/result_files.hpp"
#include "apps/word_vectors/evaluation.hpp"
#include "apps/word_vectors/trainer.hpp"
#include "apps/word_vectors/vector_file.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

struct WordVectorsOptions {
  CorpusOptions corpus;
  TrainingOptions training;
  EvaluationOptions evaluation;
  std::optional<adapm::Technique> technique;
  CheckpointOptions checkpoints;
  ManagerSettings settings;
  std::string evaluate_only;  // file of vectors; empty: train
  std::string initial;        // vectors to start from; empty: none
  std::string output;         // file of vectors; empty: none
  VectorFormat output_format = VectorFormat::binary;
  ResultFiles results;
  double progress_seconds = 5;  // between progress lines within an epoch; 0: none
};

// Adds all options to the parser, which fills in `options` when it parses.
void add_options(CLI::App& app, WordVectorsOptions& options);

}  // namespace lapse::apps
