// The losses of a pair of items of one user, for training that ranks items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "adapm/sampling_options.hpp"
#include "apps/matrix_factorization/model.hpp"

namespace lapse::apps {

enum class FactorLoss : std::uint8_t {
  squared,  // of ratings: (rating - prediction)^2
  bpr,      // Bayesian personalized ranking (Rendle et al., UAI'09)
  warp,     // weighted approximate-rank pairwise loss (Weston, Bengio and Usunier, IJCAI'11)
};

constexpr std::string_view to_string(FactorLoss loss) {
  switch (loss) {
    case FactorLoss::squared:
      return "squared";
    case FactorLoss::bpr:
      return "bpr";
    case FactorLoss::warp:
      break;
  }
  return "warp";
}

// bpr and warp: the cells are interactions, and training prefers a user's items to others.
struct RankingOptions {
  FactorLoss loss = FactorLoss::squared;
  std::uint32_t max_sampled = 10;                      // warp: negatives that are tried for an interaction
  std::size_t top = 10;                                // items of the lists that are evaluated
  std::optional<adapm::SamplingScheme> sampling = {};  // on several ranks; nullopt: that of the technique

  bool ranks() const { return loss != FactorLoss::squared; }
};

// Each loss is a function of the margin: the score of the user's item (positive) minus that of another item
// (negative). Its weight is minus the derivative: the strength with which a step moves both scores apart.
struct PairLoss {
  float loss = 0;
  float weight = 0;
};

// ln(1 + exp(-margin)); the weight is 1 / (1 + exp(margin)).
PairLoss bpr_loss(float margin);

// Whether a negative comes within 1 of the positive's score, or above it.
constexpr bool violates(float margin) {
  return margin < 1;
}

// The hinge loss 1 - margin of a violating negative, times ln(rank), where rank estimates how many of the
// `negatives` items that the user lacks come that near: negatives / draws, rounded down and at least 1, if
// `draws` were needed to find one.
PairLoss warp_loss(float margin, std::uint64_t negatives, std::uint64_t draws);

// Steps on the factors of a user, a positive and a negative. Scores are bias_item + p_user . q_item: users
// have no biases, which would cancel out. Where the model has biases, a user's stays 0. The three values have
// the layout of FactorModel and do not overlap. Immutable.
class PairSteps {
 public:
  explicit PairSteps(const FactorModel& model) : model_(model) {}

  float margin(const float* user, const float* positive, const float* negative) const {
    return model_.predict(user, positive) - model_.predict(user, negative);
  }
  // One step of gradient descent in place, on weight * -margin + l2_factors/2 (the three squared norms) +
  // l2_biases/2 (the two squared biases).
  void step(float* user, float* positive, float* negative, float weight, const SgdSteps& steps) const;
  // Adds the gradients, without learning rate and scale.
  void add_gradients(const float* user, const float* positive, const float* negative, float* user_gradient,
                     float* positive_gradient, float* negative_gradient, float weight,
                     const SgdSteps& steps) const;

 private:
  const FactorModel& model_;
};

}  // namespace lapse::apps
