// The command line of the matrix factorization.
#pragma once

#include <optional>
#include <string>

#include "apps/common/checkpoint_options.hpp"
#include "apps/common/manager_settings.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/trainer.hpp"
#include "apps/report/result_files.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

struct MatrixFactorizationOptions {
  DataOptions data;
  TrainingOptions training;
  std::optional<adapm::Technique> technique;  // for the mode with intents
  CheckpointOptions checkpoints;
  ManagerSettings settings;
  bool check = false;  // only says how the data is understood
  bool baselines = true;
  std::string initial;        // a trained model to start from; empty: none
  std::string output_prefix;  // of the files of the factors; empty: none
  ResultFiles results;
};

// Adds all options to the parser, which fills in `options` when it parses.
void add_options(CLI::App& app, MatrixFactorizationOptions& options);

}  // namespace lapse::apps
