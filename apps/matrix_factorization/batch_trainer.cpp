#include "apps/matrix_factorization/batch_trainer.hpp"

namespace lapse::apps {

void BatchTrainer::train(Worker& worker, std::span<const io::Cell> batch, const SgdSteps& steps) {
  const std::size_t length = model_.length();
  keys_.clear();
  slots_.start_batch();
  for (const io::Cell& cell : batch) {
    slots_.slot(factors_.row_key(cell.row), keys_);
    slots_.slot(factors_.column_key(cell.column), keys_);
  }
  values_.resize(keys_.size() * length);
  worker.pull(factors_.table, keys_, values_).wait();
  if (factors_.takes_gradients) {
    sum_gradients(batch, steps);
    static_cast<void>(worker.push(factors_.table, keys_, changes_, steps.scale));
  } else {
    step_one_after_the_other(batch, steps);
    static_cast<void>(worker.push(factors_.table, keys_, changes_));
  }
}

void BatchTrainer::step_one_after_the_other(std::span<const io::Cell> batch, const SgdSteps& steps) {
  changes_ = values_;
  for (const io::Cell& cell : batch) {
    float* const row = values_.data() + offset(factors_.row_key(cell.row));
    model_.step(row, values_.data() + offset(factors_.column_key(cell.column)), cell.value, steps);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) changes_[i] = values_[i] - changes_[i];
}

void BatchTrainer::sum_gradients(std::span<const io::Cell> batch, const SgdSteps& steps) {
  const std::size_t length = model_.length();
  changes_.assign(values_.size(), 0.0F);
  for (const io::Cell& cell : batch) {
    const std::size_t row = offset(factors_.row_key(cell.row));
    const std::size_t column = offset(factors_.column_key(cell.column));
    model_.gradients(values_.data() + row, values_.data() + column, row_gradient_.data(),
                     column_gradient_.data(), cell.value, steps);
    for (std::size_t k = 0; k < length; ++k) changes_[row + k] += row_gradient_[k];
    for (std::size_t k = 0; k < length; ++k) changes_[column + k] += column_gradient_[k];
  }
}

}  // namespace lapse::apps
