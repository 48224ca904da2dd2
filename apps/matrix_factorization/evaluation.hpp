// The errors of the model on cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/schedule.hpp"

namespace lapse::apps {

// Computes errors from pulled copies of the factors: the columns of one block at a time, and batches of rows.
// Only reads, so any worker may evaluate any cells, though its own are faster. Belongs to one worker.
class Evaluator {
 public:
  Evaluator(Worker& worker, const FactorTable& factors, const FactorModel& model)
      : worker_(worker), factors_(factors), model_(model), column_slot_(factors.columns) {}

  // The sum of the squared errors of the cells.
  double squared_error(const WorkerCells& cells);

 private:
  double block_error(std::span<const io::Cell> cells, std::span<const std::uint32_t> columns);
  void pull_columns(std::span<const std::uint32_t> columns);
  // Pulls the rows of the first cells, as many as one batch holds, and returns the number of these cells.
  // Requires cells sorted by row.
  std::size_t pull_rows(std::span<const io::Cell> cells);

  Worker& worker_;
  const FactorTable& factors_;
  const FactorModel& model_;
  std::vector<Key> keys_;
  std::vector<float> rows_;
  std::vector<float> columns_;
  std::vector<std::uint32_t> column_slot_;  // by column: its position in columns_
};

}  // namespace lapse::apps
