// Small trainings and their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/matrix_factorization/trainer.hpp"

namespace lapse::test {

inline apps::FactorizationProblem zipf_problem(std::uint32_t rows = 700, std::uint32_t columns = 60,
                                               std::uint64_t cells = 8000) {
  apps::DataOptions options;
  options.zipf = {.rows = rows, .columns = columns, .cells = cells, .rank = 4, .noise = 0.3};
  return apps::load_problem(options);
}

inline apps::TrainingOptions small_training(apps::TrainingMode mode) {
  apps::TrainingOptions options;
  options.table = "";  // a new name for every trainer
  options.rank = 5;
  options.initial_scale = 0.3;
  options.l2_factors = 0.02;
  options.learning_rate.initial = 0.05;
  options.epochs = 6;
  options.patience = 0;
  options.runner.mode = mode;
  options.runner.lookahead = 50;
  options.runner.batch = 4;
  return options;
}

// Numbers of workers to try, for this number of ranks: equal numbers on all ranks, all workers on the last
// rank, none on the last rank.
inline std::vector<std::vector<std::int32_t>> worker_layouts(std::int32_t ranks) {
  std::vector<std::vector<std::int32_t>> layouts{{1}, {3}};
  if (ranks == 1) return layouts;
  std::vector<std::int32_t> last_only(static_cast<std::size_t>(ranks), 0);
  last_only.back() = 2;
  std::vector<std::int32_t> not_last(static_cast<std::size_t>(ranks), 2);
  not_last.back() = 0;
  layouts.push_back(last_only);
  layouts.push_back(not_last);
  return layouts;
}

// Collective. Returns the values of all keys, on every rank.
inline std::vector<float> all_values(ParameterServer& server, const apps::FactorTable& factors) {
  std::vector<Key> keys;
  for (std::uint64_t key = 0; key < factors.table.keys(); ++key) keys.push_back(Key{key});
  std::vector<float> values(keys.size() * factors.table.length());
  server.run_workers(1, [&](Worker& worker) { worker.pull(factors.table, keys, values).wait(); });
  return values;
}

inline apps::SgdSteps steps_of(const apps::TrainingOptions& options, double learning_rate) {
  return {static_cast<float>(learning_rate), static_cast<float>(options.l2_factors),
          static_cast<float>(options.l2_biases)};
}

}  // namespace lapse::test
