#include "lapse/io/samples/sparse_samples.hpp"

#include <algorithm>
#include <bit>

#include "lapse/core/random.hpp"

namespace lapse::io {

void SparseSamples::add(double label, std::span<const FeatureValue> features, bool keeps) {
  const auto mix = [this](std::uint64_t bits) { checksum_ = mix_bits(checksum_ ^ bits) + kGoldenGamma; };
  mix(std::bit_cast<std::uint64_t>(label));
  for (const FeatureValue& entry : features)
    mix((std::uint64_t{entry.feature} << 32U) + std::bit_cast<std::uint32_t>(entry.value));
  mix(features.size());
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

void SparseSamples::count_features_from_0() {
  for (FeatureValue& entry : entries_) --entry.feature;
  if (all_features_ != 0) --all_features_;
}

}  // namespace lapse::io
