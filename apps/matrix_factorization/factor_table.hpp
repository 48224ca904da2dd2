// The factors in the parameter server.
#pragma once

#include <cstdint>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"

namespace lapse::apps {

// One table: rows have the keys 0 to rows - 1, columns follow them; each value as FactorModel lays it out.
struct FactorTable {
  Key row_key(std::uint64_t row) const { return Key{row}; }
  Key column_key(std::uint64_t column) const { return Key{rows + column}; }

  Table<float> table;
  std::uint64_t rows;
  std::uint64_t columns;
  // Pushes carry gradients, to which the table applies its update rule; else changes, which it adds.
  bool takes_gradients = false;
};

// Collective. Factors start uniform in [-initial_scale, initial_scale), biases at 0. Rows and columns without
// training cells are 0 and stay so: they add nothing to a prediction. The rule is add or an optimiser.
FactorTable create_factor_table(adapm::ParameterManager& manager, const std::string& name,
                                const FactorizationProblem& problem, const FactorModel& model,
                                double initial_scale, std::uint64_t seed, const UpdateRule& rule = {},
                                Consistency consistency = Consistency::sequential);

}  // namespace lapse::apps
