// The optimiser of the embeddings.
#pragma once

#include <cstdint>
#include <optional>

#include "lapse/store/update_rules/update_rule.hpp"

namespace lapse::apps {

enum class OptimiserKind : std::uint8_t { adagrad, adam };

struct OptimiserOptions {
  OptimiserKind kind = OptimiserKind::adagrad;
  double learning_rate = 0.1;
  double initial_accumulator = 1e-6;   // of Adagrad
  std::optional<double> epsilon = {};  // default 1e-10 for Adagrad, 1e-8 for Adam

  UpdateRule update_rule() const {
    if (kind == OptimiserKind::adam)
      return UpdateRule::adam({.learning_rate = learning_rate, .epsilon = epsilon.value_or(1e-8)});
    return UpdateRule::adagrad({.learning_rate = learning_rate,
                                .l2 = 0,
                                .initial_accumulator = initial_accumulator,
                                .epsilon = epsilon.value_or(1e-10)});
  }
};

}  // namespace lapse::apps
