// The samples of one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/io/samples/sparse_samples.hpp"

namespace lapse::apps {

// How a model sees samples: two labels, and a feature that all samples have, or none.
struct SampleForm {
  double positive = 1;         // the label that becomes 1; another becomes -1
  std::uint64_t features = 0;  // of the model, without the one that all samples have
  double bias = 0;             // the value of that feature; 0: none

  std::uint64_t keys() const { return features + (bias != 0 ? 1 : 0); }
};

// Rows of a worker, whose features are numbered anew: from 0, those that occur in the rows. Immutable.
class WorkerSamples {
 public:
  // Of the samples with these indices. Features beyond those of the form are left out.
  WorkerSamples(const io::SparseSamples& samples, std::span<const std::size_t> indices,
                const SampleForm& form);

  std::size_t size() const { return labels_.size(); }
  // The number of the sample in the collection.
  std::uint64_t number(std::size_t sample) const { return numbers_[sample]; }
  double label(std::size_t sample) const { return labels_[sample]; }  // -1 or 1
  // FeatureValue::feature is an index in keys().
  std::span<const io::FeatureValue> features(std::size_t sample) const {
    return std::span(entries_).subspan(begins_[sample], begins_[sample + 1] - begins_[sample]);
  }
  double squared_norm(std::size_t sample) const { return squared_norms_[sample]; }
  std::uint64_t entries() const { return entries_.size(); }

  // The features of the rows, as keys of a table, in ascending order.
  std::span<const Key> keys() const { return keys_; }

 private:
  std::vector<std::uint64_t> numbers_;
  std::vector<double> labels_;
  std::vector<std::size_t> begins_;  // of the rows, and the end of the last
  std::vector<double> squared_norms_;
  std::vector<io::FeatureValue> entries_;
  std::vector<Key> keys_;
};

// x . w
inline double dot(std::span<const io::FeatureValue> x, const double* w) {
  double sum = 0;
  for (const io::FeatureValue& entry : x) sum += static_cast<double>(entry.value) * w[entry.feature];
  return sum;
}
// w <- w + factor x
inline void add(double factor, std::span<const io::FeatureValue> x, double* w) {
  for (const io::FeatureValue& entry : x) w[entry.feature] += factor * static_cast<double>(entry.value);
}

}  // namespace lapse::apps
