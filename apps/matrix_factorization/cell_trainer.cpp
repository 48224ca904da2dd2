#include "apps/matrix_factorization/cell_trainer.hpp"

#include <cstddef>

namespace lapse::apps {

void CellTrainer::train_by_gradients(const io::Cell& cell, const SgdSteps& steps) {
  const Key row_key = factors_.row_key(cell.row);
  const Key column_key = factors_.column_key(cell.column);
  Operation row = worker_.pull(factors_.table, row_key, row_);
  worker_.pull(factors_.table, column_key, column_).wait();
  row.wait();
  model_.gradients(row_.data(), column_.data(), row_change_.data(), column_change_.data(), cell.value, steps);
  static_cast<void>(worker_.push(factors_.table, row_key, row_change_, steps.scale));
  static_cast<void>(worker_.push(factors_.table, column_key, column_change_, steps.scale));
}

void CellTrainer::train_remote_column(const io::Cell& cell, Key column_key, const SgdSteps& steps) {
  worker_.pull(factors_.table, column_key, column_).wait();
  column_change_ = column_;
  model_.step(row_.data(), column_.data(), row_change_.data(), cell.value, steps);
  for (std::size_t k = 0; k < column_.size(); ++k) column_change_[k] = column_[k] - column_change_[k];
  static_cast<void>(worker_.push(factors_.table, column_key, column_change_));
}

}  // namespace lapse::apps
