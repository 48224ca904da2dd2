#include "apps/matrix_factorization/evaluation.hpp"

namespace lapse::apps {

namespace {

constexpr std::size_t kRowsPerBatch = 256;

}  // namespace

double Evaluator::squared_error(const WorkerCells& cells) {
  double sum = 0;
  for (std::size_t block = 0; block < cells.blocks(); ++block) {
    sum += block_error(cells.block(block), cells.columns(block));
  }
  return sum;
}

double Evaluator::block_error(std::span<const io::Cell> cells, std::span<const std::uint32_t> columns) {
  const std::size_t length = model_.length();
  pull_columns(columns);
  double sum = 0;
  while (!cells.empty()) {
    const std::span<const io::Cell> batch = cells.first(pull_rows(cells));
    const float* row = rows_.data();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (i != 0 && batch[i].row != batch[i - 1].row) row += length;
      const float* const column = columns_.data() + column_slot_[batch[i].column] * length;
      const double error = double{batch[i].value} - double{model_.predict(row, column)};
      sum += error * error;
    }
    cells = cells.subspan(batch.size());
  }
  return sum;
}

void Evaluator::pull_columns(std::span<const std::uint32_t> columns) {
  keys_.clear();
  for (const std::uint32_t column : columns) {
    column_slot_[column] = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(factors_.column_key(column));
  }
  columns_.resize(keys_.size() * model_.length());
  worker_.pull(factors_.table, keys_, columns_).wait();
}

std::size_t Evaluator::pull_rows(std::span<const io::Cell> cells) {
  keys_.clear();
  std::size_t count = 0;
  for (; count < cells.size(); ++count) {
    if (count != 0 && cells[count].row == cells[count - 1].row) continue;
    if (keys_.size() == kRowsPerBatch) break;
    keys_.push_back(factors_.row_key(cells[count].row));
  }
  rows_.resize(keys_.size() * model_.length());
  worker_.pull(factors_.table, keys_, rows_).wait();
  return count;
}

}  // namespace lapse::apps
