#include "apps/knowledge_graph_embeddings/regularizer.hpp"

#include <cmath>

#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

namespace {

// gradient += factor * |value| * value
void add_modulus_product(float factor, const float* __restrict value, float* __restrict gradient,
                         std::size_t length) {
  for (std::size_t k = 0; k < length; ++k) gradient[k] += factor * std::abs(value[k]) * value[k];
}

// The same for complex numbers, real parts first.
void add_complex_modulus_product(float factor, const float* __restrict value, float* __restrict gradient,
                                 std::size_t length) {
  const std::size_t dimensions = length / 2;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const float real = value[k];
    const float imaginary = value[k + dimensions];
    const float scale = factor * std::sqrt(real * real + imaginary * imaginary);
    gradient[k] += scale * real;
    gradient[k + dimensions] += scale * imaginary;
  }
}

}  // namespace

void Regularizer::add_gradient(const EmbeddingRow& row, std::size_t length) const {
  if (l2_ != 0) axpy(l2_, row.values(length), row.gradients(length));
  if (n3_ == 0) return;
  const auto add_cubic_gradient =
      model_.has_complex_numbers() ? add_complex_modulus_product : add_modulus_product;
  add_cubic_gradient(3 * n3_, row.value, row.gradient, length);
}

}  // namespace lapse::apps
