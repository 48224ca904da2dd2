// The matrix to factorize, on every rank.
#pragma once

#include "apps/matrix_factorization/problem.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Collective over all workers, of which every rank has one. Every rank reads or generates for itself;
// standard input (the file "-"), which rank 0 alone has, is read by rank 0 and broadcast. Throws as
// load_problem does.
FactorizationProblem load_shared_problem(Worker& worker, const DataOptions& options);

}  // namespace lapse::apps
