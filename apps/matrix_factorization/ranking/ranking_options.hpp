// The command line of training on interactions.
#pragma once

#include <cstdint>

#include "apps/common/option_conditions.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/trainer.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lapse::apps {

// Defaults of the program with the losses bpr and warp, besides the mode intent and the update rule adagrad.
// They suit MovieTweetings and the visits of msweb. L2 of warp is stronger: it acts only where items violate.
struct RankingDefaults {
  double bpr_rate = 0.1;
  double warp_rate = 0.05;
  double bpr_l2 = 0.01;
  double warp_l2 = 0.1;
  double l2_biases = 0.01;
  double initial_scale = 0.1;
  std::uint64_t patience = 10;
};
constexpr RankingDefaults kRankingDefaults{};

// Options whose defaults depend on the loss.
struct OptionsByLoss {
  const CLI::Option* mode;
  const CLI::Option* update_rule;
  const CLI::Option* patience;
  const CLI::Option* rate;
  const CLI::Option* l2;
  const CLI::Option* l2_biases;
  const CLI::Option* initial_scale;
};

// Adds the option of the loss, and those that apply only with the losses bpr and warp.
void add_ranking_options(CLI::App& app, RankingOptions& ranking, DataOptions& data,
                         OptionConditions& conditions);

// Call it when all options are read: sets those that are not given, if the loss is bpr or warp.
void choose_defaults(const OptionsByLoss& options, TrainingOptions& training);

}  // namespace lapse::apps
