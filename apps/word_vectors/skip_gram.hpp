// Skip-gram with negative sampling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/word_vectors/window_batch.hpp"

namespace lapse::apps {

// The summed loss of a batch.
struct LossSum {
  double loss = 0;
  std::uint64_t contexts = 0;

  double mean() const { return contexts == 0 ? 0 : loss / static_cast<double>(contexts); }
  LossSum& operator+=(const LossSum& other) {
    loss += other.loss;
    contexts += other.contexts;
    return *this;
  }
};

// Vectors v of words as contexts (input) and u of words as targets (output). The loss of a context c with its
// target w and the negatives n is (Mikolov et al. 2013, equation 4)
//
//     -log s(v_c u_w) - sum over n of log s(-v_c u_n),     s(x) = 1 / (1 + exp(-x)).
//
// Rows are those of a batch's slots, each of `dimensions` elements. Used by one thread.
class SkipGram {
 public:
  explicit SkipGram(std::size_t dimensions) : dimensions_(dimensions), step_(dimensions) {}

  // Makes a step of gradient descent for each context with all its targets, one after the other, in place.
  LossSum descend(const WindowBatch& batch, float rate, std::span<float> inputs, std::span<float> outputs);

  // Adds the gradients at the given vectors to those of the batch.
  LossSum add_gradients(const WindowBatch& batch, std::span<const float> inputs,
                        std::span<const float> outputs, std::span<float> input_gradients,
                        std::span<float> output_gradients);

 private:
  std::size_t dimensions_;
  std::vector<float> step_;  // of the current context
};

}  // namespace lapse::apps
