// Embeddings whose gradients are compared with finite differences of a loss.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_row.hpp"
#include "apps/knowledge_graph_embeddings/loss_options.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

namespace lapse::test {

// A few entities, then a relation and its inverse. A loss refers to entities by number.
struct EmbeddingSample {
  EmbeddingSample(const apps::EmbeddingModel& model, std::size_t entities, std::uint64_t seed)
      : entity_length(model.entity_length()),
        relation_length(model.relation_length()),
        entity_count(entities),
        values(entities * entity_length + 2 * relation_length),
        gradients(values.size()) {
    RandomEngine random(seed);
    for (float& value : values) value = static_cast<float>(random.uniform() - 0.5);
  }

  apps::EmbeddingRow entity(std::size_t number) { return row(number * entity_length); }
  apps::EmbeddingRow relation() { return row(entity_count * entity_length); }
  apps::EmbeddingRow inverse() { return row(entity_count * entity_length + relation_length); }
  apps::EmbeddingRow row(std::size_t begin) { return {values.data() + begin, gradients.data() + begin}; }

  std::size_t entity_length;
  std::size_t relation_length;
  std::size_t entity_count;
  std::vector<float> values;
  std::vector<float> gradients;
};

// l2/2 |x|^2 + n3 |x|^3 of one embedding, element by element.
inline double regularization(const apps::LossOptions& options, bool is_complex, const float* value,
                             std::size_t length) {
  double sum = 0;
  const std::size_t elements = is_complex ? length / 2 : length;
  for (std::size_t k = 0; k < elements; ++k) {
    const double modulus = is_complex ? std::hypot(value[k], value[k + elements]) : std::abs(value[k]);
    sum += options.l2 / 2 * modulus * modulus + options.n3 * modulus * modulus * modulus;
  }
  return sum;
}

// Compares the gradients with finite differences of the loss, which may write to the sample's gradients.
inline void check_gradients(EmbeddingSample& sample, const std::vector<float>& gradients,
                            const std::function<double()>& loss) {
  constexpr float kStep = 0x1p-7F;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    const float value = sample.values[i];
    sample.values[i] = value + kStep;
    const double above = loss();
    sample.values[i] = value - kStep;
    const double below = loss();
    sample.values[i] = value;
    CHECK((above - below) / (2 * double{kStep}) == Approx(gradients[i]).margin(2e-3));
  }
}

}  // namespace lapse::test
