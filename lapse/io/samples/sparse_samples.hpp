// Labelled samples with sparse features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse::io {

struct FeatureValue {
  std::uint32_t feature = 0;  // from 0
  float value = 0;

  bool operator==(const FeatureValue&) const = default;
};

// Samples of a collection, or a part of them: each a label and the features that are not 0.
class LAPSE_EXPORT SparseSamples {
 public:
  // Adds the next sample of the collection: whole if this object `keeps` it, else only to the counts.
  // `features`: in ascending order, without repetitions.
  void add(double label, std::span<const FeatureValue> features, bool keeps = true);
  // The samples whose numbers in the collection `takes` accepts, as a collection of their own: with these
  // numbers, and the labels and features of this one. all_entries(): of the samples that it has.
  SparseSamples subset(const std::function<bool(std::uint64_t number)>& takes) const;
  // Numbers the features from 0 where they were added with numbers from 1.
  void count_features_from_0();

  // The samples that this object has, and their numbers in the collection, from 0.
  std::size_t samples() const { return numbers_.size(); }
  std::uint64_t number(std::size_t sample) const { return numbers_[sample]; }
  double label(std::size_t sample) const { return labels_[sample]; }
  std::span<const FeatureValue> features(std::size_t sample) const {
    const std::size_t begin = sample == 0 ? 0 : ends_[sample - 1];
    return std::span(entries_).subspan(begin, ends_[sample] - begin);
  }

  // Of the whole collection.
  std::uint64_t all_samples() const { return all_samples_; }
  std::uint64_t all_entries() const { return all_entries_; }
  // The largest feature number and 1; 0 if no sample has a feature.
  std::uint64_t all_features() const { return all_features_; }
  // The number of samples of each label, in ascending order of labels.
  const std::map<double, std::uint64_t>& all_labels() const { return all_labels_; }
  // Of all labels and features in their order.
  std::uint64_t checksum() const { return checksum_; }

 private:
  std::uint64_t all_samples_ = 0;
  std::uint64_t all_entries_ = 0;
  std::uint64_t all_features_ = 0;
  std::map<double, std::uint64_t> all_labels_;
  std::uint64_t checksum_ = 0;
  std::vector<std::uint64_t> numbers_;
  std::vector<double> labels_;
  std::vector<std::size_t> ends_;  // of the samples, in entries_
  std::vector<FeatureValue> entries_;
};

}  // namespace lapse::io
