// Embeddings that are pulled and pushed together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_row.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// The embeddings of one table that a batch uses, and their gradients. A key that occurs several times in a
// batch is pulled once; its gradients are summed and pushed once, as one step of the optimiser.
class BatchRows {
 public:
  explicit BatchRows(std::size_t length) : length_(length) {}

  // Asynchronous: the values are valid once the operation has finished.
  Operation pull(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
    values_.resize(keys.size() * length_);
    return worker.pull(table, keys, values_);
  }
  // Uses this memory for the gradients, and sets them to 0.
  void zero_gradients(std::vector<float>& memory) {
    memory.assign(values_.size(), 0.0F);
    gradients_ = memory;
  }
  EmbeddingRow row(std::uint32_t slot) {
    return {values_.data() + slot * length_, gradients_.data() + slot * length_};
  }
  // The values of the first `count` slots, row by row.
  std::span<const float> first_values(std::size_t count) const {
    return std::span(values_).first(count * length_);
  }
  std::span<float> first_gradients(std::size_t count) const { return gradients_.first(count * length_); }
  // `rate` multiplies the learning rate.
  void push_gradients(Worker& worker, const Table<float>& table, std::span<const Key> keys,
                      float rate) const {
    static_cast<void>(worker.push(table, keys, gradients_, rate));
  }

 private:
  std::size_t length_;
  std::vector<float> values_;
  std::span<float> gradients_;
};

}  // namespace lapse::apps
