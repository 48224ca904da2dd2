#include "apps/linear_model/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "apps/common/worker_parts.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics/json.hpp"

namespace lapse::apps {

std::uint32_t fold_of(std::uint64_t number, std::uint32_t folds) {
  return static_cast<std::uint32_t>((number + mix_bits(number / folds)) % folds);
}

namespace {

// Sets all values to 0.
void clear(adapm::ParameterManager& manager, const ModelTables& tables,
           const std::vector<std::int32_t>& workers) {
  manager.server().run_workers(workers_of(workers, manager.rank()), [&](Worker& worker) {
    for (const Table<double>& table : {tables.weights, tables.gradient}) {
      for_share(worker, table.keys(), [&](std::span<const Key> keys) {
        worker.set(table, keys, std::vector<double>(keys.size())).wait();
      });
    }
    worker.sync_barrier();
  });
}

}  // namespace

std::vector<CostQuality> cross_validate(adapm::ParameterManager& manager, const TrainingSamples& data,
                                        const LinearTrainingOptions& training,
                                        const CrossValidationOptions& options,
                                        const std::function<void(const CostQuality&)>& on_cost) {
  const std::uint32_t folds = options.folds;
  if (data.samples.all_samples() < folds) {
    throw ConfigurationError(fmt::format("--folds {}: there are only {} samples, expected one for each fold",
                                         folds, data.samples.all_samples()));
  }
  LinearTrainingOptions part = training;
  part.tables += " folds";
  const ModelTables tables =
      create_model_tables(manager, part.tables, data.form.keys(), training.consistency);
  std::vector<CostQuality> qualities;
  for (const double cost : options.costs.empty() ? std::vector{training.cost} : options.costs) {
    part.cost = cost;
    CostQuality quality{.cost = cost};
    double squares = 0;
    for (std::uint32_t fold = 0; fold < folds; ++fold) {
      const auto is_of_fold = [&](std::uint64_t number) { return fold_of(number, folds) == fold; };
      TrainingSamples others{
          .samples = data.samples.subset([&](std::uint64_t number) { return !is_of_fold(number); }),
          .first_feature = data.first_feature,
          .form = data.form,
          .classes = data.classes};
      clear(manager, tables, training.workers);
      LinearTrainer trainer(manager, std::move(others), part, tables);
      trainer.run();
      const TestSamples test(manager, data.samples.subset(is_of_fold), data.form, training.workers);
      const PredictionQuality of_fold = test.quality(tables, trainer.dual_penalty());
      quality.accuracy += of_fold.accuracy / folds;
      squares += of_fold.accuracy * of_fold.accuracy / folds;
      quality.auc += of_fold.auc / folds;
      quality.epochs += static_cast<double>(trainer.epochs().back().epoch) / folds;
    }
    quality.accuracy_deviation = std::sqrt(std::max(0.0, squares - quality.accuracy * quality.accuracy));
    qualities.push_back(quality);
    if (on_cost) on_cost(quality);
  }
  return qualities;
}

const CostQuality& best_cost(const std::vector<CostQuality>& qualities) {
  return *std::ranges::max_element(qualities, [](const CostQuality& a, const CostQuality& b) {
    return a.accuracy < b.accuracy || (a.accuracy == b.accuracy && a.cost > b.cost);
  });
}

std::string describe(const CostQuality& quality) {
  return fmt::format("cost {:<8g} accuracy {:6.2f} %  (deviation {:.2f})  AUC {:.4f}  {:.0f} epochs",
                     quality.cost, 100 * quality.accuracy, 100 * quality.accuracy_deviation, quality.auc,
                     quality.epochs);
}

void add_cross_validation(Summary& summary, const std::vector<CostQuality>& qualities) {
  std::string json = "[";
  for (const CostQuality& quality : qualities) {
    json += fmt::format(
        R"({}{{"cost": {}, "accuracy": {}, "accuracy_deviation": {}, "auc": {}, "epochs": {}}})",
        json.size() == 1 ? "" : ", ", json_number(quality.cost), json_number(quality.accuracy),
        json_number(quality.accuracy_deviation), json_number(quality.auc), json_number(quality.epochs));
  }
  summary.add("cost", best_cost(qualities).cost, "cost, by cross-validation");
  summary.add_json("cross_validation", json + "]");
}

}  // namespace lapse::apps
