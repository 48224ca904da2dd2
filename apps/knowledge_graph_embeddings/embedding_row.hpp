// An embedding and its gradient.
#pragma once

#include <cstddef>
#include <span>

namespace lapse::apps {

// The embedding of an entity or relation, and the sum of its gradients. Two rows may share memory.
struct EmbeddingRow {
  const float* value = nullptr;
  float* gradient = nullptr;

  std::span<const float> values(std::size_t length) const { return {value, length}; }
  std::span<float> gradients(std::size_t length) const { return {gradient, length}; }
};

}  // namespace lapse::apps
