#include "lapse/io/samples/sparse_samples.hpp"

#include <algorithm>
#include <bit>

#include "lapse/core/random.hpp"

namespace lapse::io {

void SparseSamples::add(double label, std::span<const FeatureValue> features, bool keeps) {
  // A sum over the entries, so that they need not wait for each other.
  std::uint64_t entries = features.size();
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::uint64_t bits =
        (std::uint64_t{features[i].feature} << 32U) + std::bit_cast<std::uint32_t>(features[i].value);
    entries += mix_bits(bits ^ (i + 1) * kGoldenGamma);
  }
  for (const std::uint64_t bits : {std::bit_cast<std::uint64_t>(label), entries})
    checksum_ = mix_bits(checksum_ ^ bits) + kGoldenGamma;
  ++all_labels_[label];
  ++all_samples_;
  all_entries_ += features.size();
  if (!features.empty()) all_features_ = std::max(all_features_, std::uint64_t{features.back().feature} + 1);
  if (!keeps) return;
  numbers_.push_back(all_samples_ - 1);
  labels_.push_back(label);
  entries_.insert(entries_.end(), features.begin(), features.end());
  ends_.push_back(entries_.size());
}

SparseSamples SparseSamples::subset(const std::function<bool(std::uint64_t number)>& takes) const {
  SparseSamples subset;
  for (std::size_t sample = 0; sample < samples(); ++sample) {
    if (!takes(number(sample))) continue;
    subset.add(label(sample), features(sample));
    subset.numbers_.back() = number(sample);
  }
  subset.all_samples_ = 0;
  for (std::uint64_t number = 0; number < all_samples_; ++number)
    subset.all_samples_ += takes(number) ? 1 : 0;
  subset.all_features_ = all_features_;
  subset.all_labels_ = all_labels_;
  return subset;
}

void SparseSamples::count_features_from_0() {
  for (FeatureValue& entry : entries_) --entry.feature;
  if (all_features_ != 0) --all_features_;
}

}  // namespace lapse::io
