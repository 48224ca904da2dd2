// The vectors of a batch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// The vectors in one table, each once, in the order of the batch's keys. Belongs to one worker.
class BatchVectors {
 public:
  explicit BatchVectors(std::size_t length) : length_(length) {}

  // Begins to pull. The values are valid once the operation has finished.
  Operation pull(Worker& worker, const Table<float>& table, std::span<const Key> keys);
  std::span<float> values() { return values_; }

  // Keeps a copy, so that values can be changed in place and the differences pushed.
  void keep_copy() { others_ = values_; }
  void push_differences(Worker& worker, const Table<float>& table, std::span<const Key> keys);

  // Returns zeros to which gradients are added, for pushing gradients.
  std::span<float> zero_gradients();
  void push_gradients(Worker& worker, const Table<float>& table, std::span<const Key> keys) const;

 private:
  std::size_t length_;
  std::vector<float> values_;
  std::vector<float> others_;  // the copy, or the gradients
};

}  // namespace lapse::apps
