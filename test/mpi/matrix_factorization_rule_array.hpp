// A matrix factorization by gradients and an update rule, without a server, to compare with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/schedule.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"

namespace lapse::test {

// Each value is followed by the state of its rule. One thread trains the blocks in order. The rule gets the
// sum of the gradients of `batch` cells, by row and column.
class RuleArrayTraining {
 public:
  // values: of rows, then of columns, model.length() elements each.
  RuleArrayTraining(const apps::FactorModel& model, std::uint64_t rows, const std::vector<float>& values,
                    const UpdateRule& rule)
      : model_(model), rows_(rows), kernel_(rule, ElementType::float32) {
    const std::size_t length = model.length();
    for (std::size_t begin = 0; begin < values.size(); begin += length) {
      std::vector<float>& slot =
          slots_.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(begin),
                              values.begin() + static_cast<std::ptrdiff_t>(begin + length));
      slot.resize(length + rule.state_elements(length));
      kernel_.initialise(reinterpret_cast<std::byte*>(slot.data()), length);
    }
  }

  void epoch(const apps::FactorizationProblem& problem, const apps::BlockSchedule& schedule,
             const apps::SgdSteps& steps, std::size_t batch) {
    std::vector<apps::WorkerCells> workers;
    for (std::size_t w = 0; w < schedule.workers(); ++w) workers.emplace_back(problem.train, schedule, w);
    for (std::size_t subepoch = 0; subepoch < workers.size(); ++subepoch) {
      for (std::size_t w = 0; w < workers.size(); ++w) {
        std::span<const io::Cell> cells = workers[w].block(schedule.block(w, subepoch));
        for (; !cells.empty(); cells = cells.subspan(std::min(batch, cells.size()))) {
          train(cells.first(std::min(batch, cells.size())), steps);
        }
      }
    }
  }

  std::vector<float> values() const {
    std::vector<float> values;
    for (const std::vector<float>& slot : slots_) {
      values.insert(values.end(), slot.begin(), slot.begin() + static_cast<std::ptrdiff_t>(model_.length()));
    }
    return values;
  }

 private:
  void train(std::span<const io::Cell> cells, const apps::SgdSteps& steps) {
    std::map<std::size_t, std::vector<float>> sums;
    std::vector<float> row(model_.length());
    std::vector<float> column(model_.length());
    const auto add = [&](std::size_t slot, const std::vector<float>& gradient) {
      std::vector<float>& sum = sums.try_emplace(slot, gradient.size()).first->second;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += gradient[k];
    };
    for (const io::Cell& cell : cells) {
      model_.gradients(slots_[cell.row].data(), slots_[rows_ + cell.column].data(), row.data(), column.data(),
                       cell.value, steps);
      add(cell.row, row);
      add(rows_ + cell.column, column);
    }
    for (const auto& [slot, gradient] : sums) {
      kernel_.apply(reinterpret_cast<std::byte*>(slots_[slot].data()),
                    reinterpret_cast<const std::byte*>(gradient.data()), gradient.size(), steps.scale);
    }
  }

  apps::FactorModel model_;
  std::uint64_t rows_;
  UpdateKernel kernel_;
  std::vector<std::vector<float>> slots_;
};

}  // namespace lapse::test
