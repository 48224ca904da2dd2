// Cross-validation: how well models predict samples that were not trained, by cost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/common/summary.hpp"
#include "apps/linear_model/sample_data.hpp"
#include "apps/linear_model/trainer.hpp"

namespace lapse::apps {

struct CrossValidationOptions {
  std::uint32_t folds = 0;    // 0: none
  std::vector<double> costs;  // to compare; empty: that of the training
};

// Of the models of one cost, each of which was trained without one fold and predicts it.
struct CostQuality {
  double cost = 0;
  double accuracy = 0;            // mean over the folds
  double accuracy_deviation = 0;  // standard deviation over the folds
  double auc = 0;                 // mean over the folds
  double epochs = 0;              // likewise
};

// The fold of a sample of the collection: in each run of `folds` samples, every fold occurs once, in an order
// that depends on the run.
std::uint32_t fold_of(std::uint64_t number, std::uint32_t folds);

// Collective. Trains a model for each cost and fold, one after the other by all workers, and calls on_cost on
// every rank after each cost. Throws ConfigurationError for fewer samples than folds.
std::vector<CostQuality> cross_validate(adapm::ParameterManager& manager, const TrainingSamples& data,
                                        const LinearTrainingOptions& training,
                                        const CrossValidationOptions& options,
                                        const std::function<void(const CostQuality&)>& on_cost = {});

// The smallest cost with the highest accuracy. `qualities`: not empty.
const CostQuality& best_cost(const std::vector<CostQuality>& qualities);

std::string describe(const CostQuality& quality);
void add_cross_validation(Summary& summary, const std::vector<CostQuality>& qualities);

}  // namespace lapse::apps
