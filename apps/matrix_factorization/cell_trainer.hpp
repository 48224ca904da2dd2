// Trains one cell at a time on the factors in the parameter server.
#pragma once

#include <vector>

#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"

namespace lapse::apps {

// Three accesses per cell: it pulls the row, changes a local column in place, and pushes the row's change. It
// pulls a remote column and pushes its change. Correct wherever the factors are; fast if they are local. A
// table that takes gradients needs four accesses: row and column are pulled and pushed. Belongs to one
// worker.
class CellTrainer {
 public:
  CellTrainer(Worker& worker, const FactorTable& factors, const FactorModel& model)
      : worker_(worker),
        factors_(factors),
        model_(model),
        row_(model.length()),
        row_change_(model.length()),
        column_(model.length()),
        column_change_(model.length()) {}

  void train(const io::Cell& cell, const SgdSteps& steps) {
    if (factors_.takes_gradients) return train_by_gradients(cell, steps);
    const Key row_key = factors_.row_key(cell.row);
    const Key column_key = factors_.column_key(cell.column);
    worker_.pull(factors_.table, row_key, row_).wait();
    const bool column_is_local =
        worker_.update_if_local(factors_.table, column_key, [&](std::span<float> column) {
          model_.step(row_.data(), column.data(), row_change_.data(), cell.value, steps);
        });
    if (!column_is_local) train_remote_column(cell, column_key, steps);
    static_cast<void>(worker_.push(factors_.table, row_key, row_change_));
  }

 private:
  void train_by_gradients(const io::Cell& cell, const SgdSteps& steps);
  void train_remote_column(const io::Cell& cell, Key column_key, const SgdSteps& steps);

  Worker& worker_;
  const FactorTable& factors_;
  const FactorModel& model_;
  std::vector<float> row_;
  std::vector<float> row_change_;
  std::vector<float> column_;
  std::vector<float> column_change_;
};

}  // namespace lapse::apps
