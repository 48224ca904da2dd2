// The command line of linear models.
#pragma once

#include <optional>
#include <string>

#include "adapm/technique.hpp"
#include "apps/common/checkpoint_options.hpp"
#include "apps/common/manager_settings.hpp"
#include "apps/linear_model/cross_validation.hpp"
#include "apps/linear_model/prediction.hpp"
#include "apps/linear_model/trainer.hpp"
#include "apps/report/result_files.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

enum class PenaltyKind : std::uint8_t { l1, l2, elastic_net };

struct LinearModelOptions {
  SampleOptions samples;
  std::string test;  // file; empty: none
  PenaltyKind penalty = PenaltyKind::l2;
  double l1_ratio = 0.5;  // of an elastic net
  std::optional<Solver> solver;
  CrossValidationOptions validation;
  LinearTrainingOptions training;  // with the penalty and the solver after parsing
  std::optional<adapm::Technique> technique;
  CheckpointOptions checkpoints;
  ManagerSettings settings;
  std::string save_model;  // file; empty: none
  std::string initial;     // file: start from this model; empty: from 0
  std::string model;       // file: predict with this model; empty: train
  PredictionOptions prediction;
  ResultFiles results;
};

// Adds all options to the parser, which fills in `options` when it parses.
void add_options(CLI::App& app, LinearModelOptions& options);

}  // namespace lapse::apps
