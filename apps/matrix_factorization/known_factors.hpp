// Starts from the factors of a trained model.
#pragma once

#include <string>

#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/ranking/ranking_loss.hpp"

namespace lapse::apps {

// Sets the factors and biases of the users and items, found by id or name, that the trained model has; others
// stay as they are. Where the mean of the ratings is another one, users' biases make up for it, so that the
// model's predictions stay the same. `trained`: the prefix of its files, or the path of its description.
// Returns a line for the user. Not collective: called by one worker. Throws FileError, and
// ConfigurationError if the model is another one (--rank, --biases, --loss) or the matrix is generated.
std::string set_known_factors(Worker& worker, const std::string& trained, const FactorizationProblem& problem,
                              const FactorModel& model, FactorLoss loss, const FactorTable& factors);

}  // namespace lapse::apps
