// The vectors that a batch uses.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Of one table: each vector once, in the order of the batch's keys. Belongs to one worker.
class BatchVectors {
 public:
  explicit BatchVectors(std::size_t length) : length_(length) {}

  // Starts to read. The values are valid when the operation has finished.
  Operation pull(Worker& worker, const Table<float>& table, std::span<const Key> keys);
  std::span<float> values() { return values_; }

  // To change the values in place: keeps a copy first, and pushes what has changed.
  void keep_copy() { others_ = values_; }
  void push_differences(Worker& worker, const Table<float>& table, std::span<const Key> keys);

  // To compute gradients, from zeros on, and to push them.
  std::span<float> zero_gradients();
  void push_gradients(Worker& worker, const Table<float>& table, std::span<const Key> keys) const;

 private:
  std::size_t length_;
  std::vector<float> values_;
  std::vector<float> others_;  // the copy, or the gradients
};

}  // namespace lapse::apps
