// The table of factors.
#pragma once

#include <cstdint>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"

namespace lapse::apps {

// One table: rows have the keys 0 to rows - 1, and columns follow. Values have the layout of FactorModel.
struct FactorTable {
  Key row_key(std::uint64_t row) const { return Key{row}; }
  Key column_key(std::uint64_t column) const { return Key{rows + column}; }

  Table<float> table;
  std::uint64_t rows;
  std::uint64_t columns;
  // Whether pushes carry gradients, for the table's update rule; else changes, which it adds.
  bool takes_gradients = false;
};

// Collective. Initial factors are uniform in [-initial_scale, initial_scale), biases 0. Rows and columns
// without training cells stay 0 and add nothing to a prediction. The rule is add or an optimiser.
FactorTable create_factor_table(adapm::ParameterManager& manager, const std::string& name,
                                const FactorizationProblem& problem, const FactorModel& model,
                                double initial_scale, std::uint64_t seed, const UpdateRule& rule = {},
                                Consistency consistency = Consistency::sequential);

}  // namespace lapse::apps
