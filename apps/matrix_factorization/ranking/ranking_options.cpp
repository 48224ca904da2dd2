#include "apps/matrix_factorization/ranking/ranking_options.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "apps/common/option_values.hpp"
#include "apps/common/technique_option.hpp"

namespace lapse::apps {

void add_ranking_options(CLI::App& app, RankingOptions& ranking, DataOptions& data,
                         OptionConditions& conditions) {
  const auto only_to_rank = [&](const CLI::Option* option) {
    conditions.add(option, "--loss bpr or warp", [&ranking] { return ranking.ranks(); });
  };
  add_names(app, "--loss", ranking.loss,
            std::map<std::string, FactorLoss>{
                {"squared", FactorLoss::squared}, {"bpr", FactorLoss::bpr}, {"warp", FactorLoss::warp}},
            "squared: predict ratings; bpr, warp: rank a user's items before others, where each rating is an "
            "interaction, whatever its value. These need --mode intent, their default");
  only_to_rank(app.add_option_function<double>(
                      "--positive-from", [&data](double value) { data.positive_from = value; },
                      "Losses bpr, warp: leave out ratings below this one (default: none)")
                   ->check(any_number()));
  const CLI::Option* const max_sampled =
      app.add_option("--max-sampled", ranking.max_sampled,
                     "Loss warp: items tried for an interaction, to find one that is ranked too high")
          ->check(CLI::Range(1, 1000000))
          ->capture_default_str();
  conditions.add(max_sampled, "--loss warp", [&ranking] { return ranking.loss == FactorLoss::warp; });
  only_to_rank(app.add_option("--top", ranking.top, "Losses bpr, warp: items of the lists that are evaluated")
                   ->check(CLI::Range(1, 1000000))
                   ->capture_default_str());
  only_to_rank(add_sampling(app, ranking.sampling));
}

void choose_defaults(const OptionsByLoss& options, TrainingOptions& training) {
  if (!training.ranking.ranks()) return;
  const auto set = [](const CLI::Option* option, auto& target, auto value) {
    if (option->count() == 0) target = value;
  };
  const bool is_warp = training.ranking.loss == FactorLoss::warp;
  const RankingDefaults& defaults = kRankingDefaults;
  set(options.mode, training.runner.mode, TrainingMode::intent);
  set(options.update_rule, training.update_rule.kind, UpdateRuleKind::adagrad);
  set(options.rate, training.learning_rate.initial, is_warp ? defaults.warp_rate : defaults.bpr_rate);
  set(options.patience, training.patience, defaults.patience);
  set(options.l2, training.l2_factors, is_warp ? defaults.warp_l2 : defaults.bpr_l2);
  set(options.l2_biases, training.l2_biases, defaults.l2_biases);
  set(options.initial_scale, training.initial_scale, defaults.initial_scale);
}

}  // namespace lapse::apps
