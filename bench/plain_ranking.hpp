// Bayesian personalized ranking, hand-written in one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/ranking/ranking_quality.hpp"
#include "lapse/core/random.hpp"

namespace lapse::bench {

struct PlainRankingOptions {
  std::size_t rank = 16;
  float rate = 0.1F;
  float l2 = 0.01F;  // of factors
  float l2_biases = 0.01F;
  float initial_scale = 0.1F;
};

// BPR over arrays, without batches: each interaction in random order, one uniform negative that the user
// lacks, and a step of Adagrad for each number. The model has biases of items. Results differ from those of
// the server's training by the order of the interactions, the negatives, and the batches.
class PlainRanking {
 public:
  // The problem must outlive the object.
  PlainRanking(const apps::FactorizationProblem& problem, const PlainRankingOptions& options);

  // Visits each interaction once. Returns the seconds.
  double run_epoch();
  // Of the held-out interactions.
  apps::RankingQuality quality(std::size_t top) const;

 private:
  void step(std::uint32_t user, std::uint32_t positive, std::uint32_t negative);
  float score(std::uint32_t user, std::uint32_t item) const;
  bool has(std::uint32_t user, std::uint32_t item) const;

  const apps::FactorizationProblem& problem_;
  PlainRankingOptions options_;
  RandomEngine random_;
  std::vector<io::Cell> cells_;
  std::vector<std::vector<std::uint32_t>> items_;  // of each user, ascending
  std::vector<float> users_;
  std::vector<float> columns_;  // of each item its factors
  std::vector<float> biases_;
  // Sums of squared gradients.
  std::vector<float> user_squares_;
  std::vector<float> column_squares_;
  std::vector<float> bias_squares_;
};

}  // namespace lapse::bench
