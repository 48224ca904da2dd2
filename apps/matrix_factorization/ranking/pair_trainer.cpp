#include "apps/matrix_factorization/ranking/pair_trainer.hpp"

#include <algorithm>
#include <utility>

namespace lapse::apps {

namespace {

// Draws that are prepared when those of a batch did not suffice.
constexpr std::size_t kMoreDraws = 64;

}  // namespace

PairTrainer::PairTrainer(const FactorTable& factors, const FactorModel& model, const NegativeItems& negatives)
    : factors_(factors), model_(model), negatives_(negatives), pair_(model), slots_(factors.table.keys()) {}

void PairTrainer::train(adapm::IntentWorker& worker, PositiveBatch& batch, const SgdSteps& steps) {
  keys_.clear();
  values_.clear();
  changes_.clear();
  is_changed_.clear();
  draws_.clear();
  next_draw_ = 0;
  slots_.start_batch();
  for (const io::Cell& cell : batch.cells) {
    slots_.slot(factors_.row_key(cell.row), keys_);
    slots_.slot(factors_.column_key(cell.column), keys_);
  }
  draw_more(worker, batch);
  for (const io::Cell& cell : batch.cells) visit(worker, batch, cell, steps);
  batch.sample.reset();
  push_changes(worker, steps);
}

PairTrainer::Totals PairTrainer::take_totals() {
  return std::exchange(totals_, {});
}

void PairTrainer::visit(adapm::IntentWorker& worker, PositiveBatch& batch, const io::Cell& cell,
                        const SgdSteps& steps) {
  ++totals_.visits;
  const std::size_t user = offset(factors_.row_key(cell.row));
  const std::size_t positive = offset(factors_.column_key(cell.column));
  const std::optional<Negative> negative = find_negative(worker, batch, cell.row, user, positive);
  if (!negative) return;
  totals_.loss += double{negative->loss.loss};
  const float weight = negative->loss.weight;
  if (factors_.takes_gradients) {
    pair_.add_gradients(&values_[user], &values_[positive], &values_[negative->offset], &changes_[user],
                        &changes_[positive], &changes_[negative->offset], weight, steps);
  } else {
    pair_.step(&values_[user], &values_[positive], &values_[negative->offset], weight, steps);
  }
  for (const std::size_t changed : {user, positive, negative->offset})
    is_changed_[changed / model_.length()] = true;
}

std::optional<PairTrainer::Negative> PairTrainer::find_negative(adapm::IntentWorker& worker,
                                                                PositiveBatch& batch, std::uint32_t row,
                                                                std::size_t user, std::size_t positive) {
  const UserItems& known = negatives_.known;
  const std::uint64_t lacking = factors_.columns - known.of(row).size();
  if (lacking == 0) return std::nullopt;
  const bool is_warp = negatives_.options.loss == FactorLoss::warp;
  const std::uint32_t max_tried = is_warp ? negatives_.options.max_sampled : 1;
  std::uint32_t known_draws = 0;
  for (std::uint32_t tried = 0; tried < max_tried;) {
    const Key key = next_draw(worker, batch);
    const auto item = static_cast<std::uint32_t>(key.value() - factors_.column_key(0).value());
    if (known.has(row, item)) {
      if (++known_draws == kMaxKnownDraws) break;
      continue;
    }
    ++tried;
    const std::size_t negative = offset(key);
    const float margin = pair_.margin(&values_[user], &values_[positive], &values_[negative]);
    if (!is_warp) return Negative{negative, bpr_loss(margin)};
    if (violates(margin)) return Negative{negative, warp_loss(margin, lacking, tried)};
  }
  return std::nullopt;
}

Key PairTrainer::next_draw(adapm::IntentWorker& worker, PositiveBatch& batch) {
  if (next_draw_ == draws_.size()) draw_more(worker, batch);
  ++totals_.draws;
  return draws_[next_draw_++];
}

void PairTrainer::draw_more(adapm::IntentWorker& worker, PositiveBatch& batch) {
  const std::size_t begin = draws_.size();
  draws_.insert(draws_.end(), batch.taken.begin(), batch.taken.end());
  batch.taken.clear();
  if (draws_.size() == begin) {
    if (!batch.sample || batch.sample->left() == 0) {
      const Clock now = worker.current_clock();
      batch.sample = worker.prepare_sample(negatives_.sampler, kMoreDraws, now, Clock(now.value() + 1));
    }
    draws_.resize(begin + batch.sample->left());
    worker.take_keys(*batch.sample, std::span(draws_).subspan(begin));
  }
  for (std::size_t i = begin; i < draws_.size(); ++i) slots_.slot(draws_[i], keys_);
  pull_new(worker);
}

void PairTrainer::pull_new(Worker& worker) {
  const std::size_t begin = values_.size();
  const std::size_t length = model_.length();
  values_.resize(keys_.size() * length);
  const auto new_keys = std::span(std::as_const(keys_)).subspan(begin / length);
  if (!new_keys.empty()) worker.pull(factors_.table, new_keys, std::span(values_).subspan(begin)).wait();
  is_changed_.resize(keys_.size(), false);
  if (factors_.takes_gradients)
    changes_.resize(values_.size(), 0.0F);
  else
    changes_.insert(changes_.end(), values_.begin() + static_cast<std::ptrdiff_t>(begin), values_.end());
}

void PairTrainer::push_changes(Worker& worker, const SgdSteps& steps) {
  const std::size_t length = model_.length();
  pushed_keys_.clear();
  pushed_.clear();
  for (std::size_t slot = 0; slot < keys_.size(); ++slot) {
    if (!is_changed_[slot]) continue;
    pushed_keys_.push_back(keys_[slot]);
    for (std::size_t k = slot * length; k < (slot + 1) * length; ++k)
      pushed_.push_back(factors_.takes_gradients ? changes_[k] : values_[k] - changes_[k]);
  }
  if (pushed_keys_.empty()) return;
  if (factors_.takes_gradients)
    static_cast<void>(worker.push(factors_.table, pushed_keys_, pushed_, steps.scale));
  else
    static_cast<void>(worker.push(factors_.table, pushed_keys_, pushed_));
}

}  // namespace lapse::apps
