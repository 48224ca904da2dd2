#include "apps/linear_model/worker_samples.hpp"

namespace lapse::apps {

WorkerSamples::WorkerSamples(const io::SparseSamples& samples, std::span<const std::size_t> indices,
                             const SampleForm& form) {
  std::vector<std::uint32_t> index_of(form.keys());
  for (const std::size_t i : indices)
    for (const io::FeatureValue& entry : samples.features(i))
      if (entry.feature < form.features) index_of[entry.feature] = 1;
  if (form.bias != 0 && !indices.empty()) index_of.back() = 1;
  for (std::size_t feature = 0; feature < index_of.size(); ++feature) {
    if (index_of[feature] == 0) continue;
    index_of[feature] = static_cast<std::uint32_t>(keys_.size());
    keys_.emplace_back(feature);
  }
  begins_.push_back(0);
  for (const std::size_t i : indices) {
    double squared_norm = 0;
    const auto add_entry = [&](std::size_t feature, float value) {
      entries_.push_back({index_of[feature], value});
      squared_norm += static_cast<double>(value) * static_cast<double>(value);
    };
    for (const io::FeatureValue& entry : samples.features(i))
      if (entry.feature < form.features) add_entry(entry.feature, entry.value);
    if (form.bias != 0) add_entry(form.features, static_cast<float>(form.bias));
    begins_.push_back(entries_.size());
    squared_norms_.push_back(squared_norm);
    numbers_.push_back(samples.number(i));
    labels_.push_back(samples.label(i) == form.positive ? 1 : -1);
  }
}

}  // namespace lapse::apps
