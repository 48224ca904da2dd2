#include "apps/word_vectors/skip_gram.hpp"

#include <algorithm>
#include <cmath>

#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

namespace {

// The logistic function from a table, because exp would take as long as the vectors: at x in steps of 1/128,
// and constant beyond 8, where the gradient is below 0.0004.
class SigmoidTable {
 public:
  SigmoidTable() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double x = (static_cast<double>(i) + 0.5) / kSteps - kLimit;
      values_[i] = static_cast<float>(1 / (1 + std::exp(-x)));
    }
  }
  float operator()(float x) const {
    const float place = (std::clamp(x, -kLimit, kLimit) + kLimit) * kSteps;
    // NaN passes through the clamp and the sum.
    if (!(place >= 0)) return x;
    return values_[std::min(static_cast<std::size_t>(place), values_.size() - 1)];
  }

 private:
  static constexpr float kLimit = 8;
  static constexpr float kSteps = 128;
  std::array<float, static_cast<std::size_t>(2 * kLimit * kSteps)> values_;
};

const SigmoidTable& sigmoid() {
  static const SigmoidTable table;
  return table;
}

// The logarithm of a product of probabilities; taken whenever the product becomes small.
class LogProduct {
 public:
  void multiply(float probability) {
    product_ *= probability;
    if (!(product_ > 1e-200)) flush();
  }
  double log() {
    flush();
    return log_;
  }

 private:
  void flush() {
    log_ += std::log(product_);
    product_ = 1;
  }
  double product_ = 1;
  double log_ = 0;
};

// Calls f(row of the context, its slot, slots of its targets) for every context of the batch.
template <class F>
void for_each_context(const WindowBatch& batch, F&& f) {
  std::span<const std::uint32_t> contexts(batch.contexts);
  std::span<const std::uint32_t> targets(batch.targets);
  for (const WindowBatch::Tile& tile : batch.tiles) {
    for (const std::uint32_t context : contexts.first(tile.contexts)) f(context, targets.first(tile.targets));
    contexts = contexts.subspan(tile.contexts);
    targets = targets.subspan(tile.targets);
  }
}

}  // namespace

LossSum SkipGram::descend(const WindowBatch& batch, float rate, std::span<float> inputs,
                          std::span<float> outputs) {
  const Kernels<float>& kernel = kernels<float>();
  const SigmoidTable& probability = sigmoid();
  const std::size_t n = dimensions_;
  LogProduct likelihood;
  for_each_context(batch, [&](std::uint32_t context, std::span<const std::uint32_t> targets) {
    float* const input = inputs.data() + context * n;
    std::fill(step_.begin(), step_.end(), 0.0F);
    bool is_word = true;  // the first
    for (const std::uint32_t target : targets) {
      float* const output = outputs.data() + target * n;
      const float p = probability(kernel.dot(input, output, n));
      likelihood.multiply(is_word ? p : 1 - p);
      const float factor = rate * (is_word ? 1 - p : -p);
      kernel.axpy(step_.data(), factor, output, n);
      kernel.axpy(output, factor, input, n);
      is_word = false;
    }
    kernel.add(input, step_.data(), n);
  });
  return {-likelihood.log(), batch.contexts.size()};
}

LossSum SkipGram::add_gradients(const WindowBatch& batch, std::span<const float> inputs,
                                std::span<const float> outputs, std::span<float> input_gradients,
                                std::span<float> output_gradients) {
  const Kernels<float>& kernel = kernels<float>();
  const SigmoidTable& probability = sigmoid();
  const std::size_t n = dimensions_;
  LogProduct likelihood;
  for_each_context(batch, [&](std::uint32_t context, std::span<const std::uint32_t> targets) {
    const float* const input = inputs.data() + context * n;
    bool is_word = true;
    for (const std::uint32_t target : targets) {
      const float* const output = outputs.data() + target * n;
      const float p = probability(kernel.dot(input, output, n));
      likelihood.multiply(is_word ? p : 1 - p);
      const float factor = is_word ? p - 1 : p;
      kernel.axpy(input_gradients.data() + context * n, factor, output, n);
      kernel.axpy(output_gradients.data() + target * n, factor, input, n);
      is_word = false;
    }
  });
  return {-likelihood.log(), batch.contexts.size()};
}

}  // namespace lapse::apps
