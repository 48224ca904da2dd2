#include "apps/knowledge_graph_embeddings/complex_model.hpp"

namespace lapse::apps {

namespace {

// product = a * b, or conj(a) * b; arrays of complex numbers, real parts first.
template <bool conjugate>
void multiply(const float* __restrict a, const float* __restrict b, float* __restrict product,
              std::size_t dimensions) {
  for (std::size_t k = 0; k < dimensions; ++k) {
    const float real = a[k];
    const float imaginary = conjugate ? -a[k + dimensions] : a[k + dimensions];
    product[k] = real * b[k] - imaginary * b[k + dimensions];
    product[k + dimensions] = real * b[k + dimensions] + imaginary * b[k];
  }
}

// sum += a * b, or conj(a) * b
template <bool conjugate>
void add_product(const float* __restrict a, const float* __restrict b, float* __restrict sum,
                 std::size_t dimensions) {
  for (std::size_t k = 0; k < dimensions; ++k) {
    const float real = a[k];
    const float imaginary = conjugate ? -a[k + dimensions] : a[k + dimensions];
    sum[k] += real * b[k] - imaginary * b[k + dimensions];
    sum[k + dimensions] += real * b[k + dimensions] + imaginary * b[k];
  }
}

}  // namespace

void ComplExModel::query(Side missing, std::span<const float> known, std::span<const float> relation,
                         std::span<float> query) const {
  const std::size_t dimensions = query.size() / 2;
  if (missing == Side::object) {
    multiply<false>(relation.data(), known.data(), query.data(), dimensions);
  } else {
    multiply<true>(relation.data(), known.data(), query.data(), dimensions);
  }
}

// The gradient of a factor is the gradient of the product times the conjugate of the other factor.
void ComplExModel::add_query_gradient(Side missing, std::span<const float> known,
                                      std::span<const float> relation, std::span<const float> query_gradient,
                                      std::span<float> known_gradient,
                                      std::span<float> relation_gradient) const {
  const std::size_t dimensions = known.size() / 2;
  const float* const gradient = query_gradient.data();
  if (missing == Side::object) {
    add_product<true>(relation.data(), gradient, known_gradient.data(), dimensions);
    add_product<true>(known.data(), gradient, relation_gradient.data(), dimensions);
  } else {
    add_product<false>(relation.data(), gradient, known_gradient.data(), dimensions);
    add_product<true>(gradient, known.data(), relation_gradient.data(), dimensions);
  }
}

}  // namespace lapse::apps
