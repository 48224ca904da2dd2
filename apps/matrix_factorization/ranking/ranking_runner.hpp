// Training with the losses of pairs, with intents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/matrix_factorization/intent_runner.hpp"
#include "apps/matrix_factorization/ranking/pair_trainer.hpp"

namespace lapse::apps {

// A worker visits the interactions of its rows in a new random order in every epoch: consecutive steps on one
// user or item would converge slowly (Rendle et al., UAI'09, section 4.2). The loader's thread
// also prepares samples of negatives; under the technique `localize`, these are localized ahead, too.
class RankingRunner final : public IntentRunner {
 public:
  RankingRunner(const WorkerTask& task, const RunnerOptions& options, const NegativeItems& negatives);

  void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) override;
  double loss_sum() const override { return loss_sum_; }

 private:
  // Puts the interactions in the order of an epoch.
  void arrange(std::uint64_t epoch);
  void make(PositiveBatch& batch, std::size_t number) const;
  std::size_t draws_of(const PositiveBatch& batch) const;
  void localize(adapm::IntentWorker& worker, PositiveBatch& batch) const;

  const NegativeItems& negatives_;
  PairTrainer trainer_;
  double loss_sum_ = 0;         // of the last epoch
  double draws_per_visit_ = 1;  // of the last epoch; before it, an estimate
};

}  // namespace lapse::apps
