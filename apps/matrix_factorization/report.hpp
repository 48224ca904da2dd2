// Reports of a training to its user.
#pragma once

#include <optional>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/common/summary.hpp"
#include "apps/matrix_factorization/baseline.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/trainer.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::apps {

// For --check: how the files were understood, what they have, and the first ratings. Ends with a newline.
std::string describe_data(const FactorizationProblem& problem);
// One or two lines.
std::string describe(const FactorizationProblem& problem, const std::optional<Baselines>& baselines);
// One line.
std::string describe(const EpochRecord& record);

// Errors, times and communication of the training, without evaluations, and all counters of the server.
Summary summarize(const Trainer& trainer, const FactorizationProblem& problem,
                  const std::optional<Baselines>& baselines, const adapm::Statistics& statistics);

}  // namespace lapse::apps
