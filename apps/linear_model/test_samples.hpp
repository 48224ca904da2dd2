// How well a model predicts samples that were not trained.
#pragma once

#include <cstdint>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/linear_model/model_tables.hpp"
#include "apps/linear_model/penalty.hpp"
#include "apps/linear_model/worker_samples.hpp"

namespace lapse::apps {

// Of samples with labels -1 and 1.
struct PredictionQuality {
  double accuracy = 0;  // the share of samples that are positive if and only if x . w > 0
  // The probability that a positive sample has a larger x . w than a negative one, counting equal ones half;
  // 0.5 if there are none of either.
  double auc = 0.5;
};

struct Prediction {
  double value = 0;  // x . w
  bool is_positive = false;
};

// The order of the predictions does not matter. Sorts them.
PredictionQuality prediction_quality(std::vector<Prediction>& predictions);

// Collective. Of the predictions of all ranks.
PredictionQuality quality_of_all(ParameterServer& server, const std::vector<Prediction>& of_rank);

// Used by the manager's thread. Calls are collective.
class TestSamples {
 public:
  // `samples`: of this rank's workers, from load_test_samples.
  TestSamples(adapm::ParameterManager& manager, const io::SparseSamples& samples, const SampleForm& form,
              const std::vector<std::int32_t>& workers);

  std::uint64_t size() const { return size_; }  // of all ranks

  // Of the weights that follow from the table's values by the penalty (SdcaSolver), or of the table's values.
  PredictionQuality quality(const ModelTables& tables, const Penalty* dual_penalty) const;

 private:
  adapm::ParameterManager& manager_;
  std::uint64_t size_;
  std::vector<WorkerSamples> of_workers_;  // by local index
};

}  // namespace lapse::apps
