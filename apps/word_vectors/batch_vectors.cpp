#include "apps/word_vectors/batch_vectors.hpp"

#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

Operation BatchVectors::pull(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
  values_.resize(keys.size() * length_);
  return worker.pull(table, keys, values_);
}

void BatchVectors::push_differences(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
  axpy(-1.0F, others_, values_);
  static_cast<void>(worker.push(table, keys, values_));
}

std::span<float> BatchVectors::zero_gradients() {
  others_.assign(values_.size(), 0.0F);
  return others_;
}

void BatchVectors::push_gradients(Worker& worker, const Table<float>& table,
                                  std::span<const Key> keys) const {
  static_cast<void>(worker.push(table, keys, others_));
}

}  // namespace lapse::apps
