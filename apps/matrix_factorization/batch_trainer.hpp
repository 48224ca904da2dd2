// Trains batches of cells on copies of their factors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/common/key_slots.hpp"
#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"

namespace lapse::apps {

// Pulls the factors of a batch of cells, trains the cells one after the other on these copies, and pushes the
// changes. Within a batch, a cell sees the changes of earlier cells; the next batch sees concurrent pushes of
// other workers. A table that takes gradients gets one for each row and column: the sum over the batch, at
// the pulled values. Belongs to one worker. Tables and model must outlive it.
class BatchTrainer {
 public:
  BatchTrainer(const FactorTable& factors, const FactorModel& model)
      : factors_(factors),
        model_(model),
        slots_(factors.table.keys()),
        row_gradient_(model.length()),
        column_gradient_(model.length()) {}

  void train(Worker& worker, std::span<const io::Cell> batch, const SgdSteps& steps);

 private:
  // Both variants write changes_.
  void step_one_after_the_other(std::span<const io::Cell> batch, const SgdSteps& steps);
  void sum_gradients(std::span<const io::Cell> batch, const SgdSteps& steps);
  // The offset of a key's value in values_.
  std::size_t offset(Key key) { return slots_.slot(key, keys_) * model_.length(); }

  const FactorTable& factors_;
  const FactorModel& model_;
  KeySlots slots_;
  std::vector<Key> keys_;            // of the batch
  std::vector<float> values_;        // of the keys, row by row
  std::vector<float> changes_;       // values_ before the batch, then the changes to push
  std::vector<float> row_gradient_;  // of one cell
  std::vector<float> column_gradient_;
};

}  // namespace lapse::apps
