#include "apps/matrix_factorization/ranking/ranking_runner.hpp"

#include <algorithm>
#include <cmath>

#include "lapse/io/loading/shuffle.hpp"

namespace lapse::apps {

RankingRunner::RankingRunner(const WorkerTask& task, const RunnerOptions& options,
                             const NegativeItems& negatives)
    : IntentRunner(task, options), negatives_(negatives), trainer_(task.factors, task.model, negatives) {
  for (const std::uint32_t row : task.cells.rows()) rows_.push_back(task.factors.row_key(row));
}

void RankingRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  arrange(epoch);
  run_batches<PositiveBatch>(
      worker,
      [this](PositiveBatch& batch, std::size_t number, const auto& intents, Clock clock) {
        make(batch, number);
        batch.sample =
            intents.prepare_sample(negatives_.sampler, draws_of(batch), clock, Clock(clock.value() + 1));
      },
      [&](PositiveBatch& batch) { localize(worker, batch); },
      [&](PositiveBatch& batch) { trainer_.train(worker, batch, steps); });
  const PairTrainer::Totals totals = trainer_.take_totals();
  loss_sum_ = totals.loss;
  if (totals.visits != 0)
    draws_per_visit_ = static_cast<double>(totals.draws) / static_cast<double>(totals.visits);
}

void RankingRunner::arrange(std::uint64_t epoch) {
  const auto cells = task_.cells.all();
  visits_.assign(cells.begin(), cells.end());
  RandomEngine random(seed_, epoch * task_.schedule.workers() + task_.worker);
  io::shuffle(std::span(visits_), random);
}

void RankingRunner::make(PositiveBatch& batch, std::size_t number) const {
  batch.cells = cells_of(number);
  batch.taken.clear();
  batch.columns.clear();
  for (const io::Cell& cell : batch.cells) batch.columns.push_back(task_.factors.column_key(cell.column));
  std::sort(batch.columns.begin(), batch.columns.end());
  batch.columns.erase(std::unique(batch.columns.begin(), batch.columns.end()), batch.columns.end());
}

// Few batches need more than a tenth above the mean. What is beyond the limit is drawn when it is needed.
std::size_t RankingRunner::draws_of(const PositiveBatch& batch) const {
  constexpr double kMargin = 1.1;
  constexpr std::size_t kMaxPrepared = std::size_t{1} << 22U;  // of all batches ahead, 8 bytes each
  const auto draws = static_cast<std::size_t>(
      std::ceil(kMargin * draws_per_visit_ * static_cast<double>(batch.cells.size())));
  return std::min(draws, std::max(batch.cells.size(), kMaxPrepared / (lookahead_ + 1)));
}

void RankingRunner::localize(adapm::IntentWorker& worker, PositiveBatch& batch) const {
  batch.taken.resize(batch.sample->left());
  worker.take_keys(*batch.sample, batch.taken);
  static_cast<void>(worker.localize(task_.factors.table, batch.columns));
  static_cast<void>(worker.localize(task_.factors.table, batch.taken));
}

}  // namespace lapse::apps
