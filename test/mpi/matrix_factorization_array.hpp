// A matrix factorization without a server, to compare with.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/schedule.hpp"

namespace lapse::test {

// Keeps the factors in an array; one thread trains the blocks in order.
struct ArrayTraining {
  void epoch(const apps::FactorizationProblem& problem, const apps::BlockSchedule& schedule,
             const apps::SgdSteps& steps) {
    std::vector<apps::WorkerCells> workers;
    for (std::size_t w = 0; w < schedule.workers(); ++w) workers.emplace_back(problem.train, schedule, w);
    for (std::size_t subepoch = 0; subepoch < workers.size(); ++subepoch) {
      for (std::size_t w = 0; w < workers.size(); ++w) {
        for (const io::Cell& cell : workers[w].block(schedule.block(w, subepoch))) train(cell, steps);
      }
    }
  }

  void train(const io::Cell& cell, const apps::SgdSteps& steps) {
    std::vector<float> change(model.length());
    float* const row = values.data() + cell.row * model.length();
    model.step(row, values.data() + (rows + cell.column) * model.length(), change.data(), cell.value, steps);
    for (std::size_t k = 0; k < change.size(); ++k) row[k] += change[k];
  }

  double rmse(const std::vector<io::Cell>& cells) const {
    double sum = 0;
    for (const io::Cell& cell : cells) {
      const float* const row = values.data() + cell.row * model.length();
      const float* const column = values.data() + (rows + cell.column) * model.length();
      sum += std::pow(double{cell.value} - double{model.predict(row, column)}, 2);
    }
    return std::sqrt(sum / static_cast<double>(cells.size()));
  }

  apps::FactorModel model;
  std::uint64_t rows;
  std::vector<float> values;
};

}  // namespace lapse::test
