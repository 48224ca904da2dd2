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
// Errors of the baselines, or of a loss that ranks items, the quality of the most popular items.
struct BaselineResults {
  std::optional<Baselines> errors = {};
  std::optional<RankingQuality> popularity = {};
};

// The size of the matrix, and the errors of the baselines: one or two lines.
std::string describe(const FactorizationProblem& problem, const BaselineResults& baselines);
// A line, with its end; empty if no user was evaluated. top: as below.
std::string describe_popularity(const RankingQuality& quality, std::size_t top);
// One line. top: items of the lists that were evaluated.
std::string describe(const EpochRecord& record, std::size_t top);

// Errors, times and communication of the training, without evaluations, and all counters of the server.
Summary summarize(const Trainer& trainer, const FactorizationProblem& problem,
                  const BaselineResults& baselines, const adapm::Statistics& statistics);

}  // namespace lapse::apps
