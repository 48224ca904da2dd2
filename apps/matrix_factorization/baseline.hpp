// Errors of simple models without factors, for comparison.
#pragma once

#include "apps/matrix_factorization/problem.hpp"

namespace lapse::apps {

// Root mean square errors on the held-out cells; 0 without held-out cells.
struct Baselines {
  double mean = 0;    // predicts every cell as the mean of the training cells
  double biases = 0;  // predicts mean + b_row + b_column
};

// The biases minimise sum error^2 + l2 (sum b_row^2 + sum b_column^2) over the training cells. Each round
// solves for all rows, then for all columns, in closed form.
Baselines compute_baselines(const FactorizationProblem& problem, double l2 = 2, int rounds = 20);

}  // namespace lapse::apps
