#include "apps/linear_model/test_samples.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "apps/common/worker_parts.hpp"

namespace lapse::apps {

PredictionQuality prediction_quality(std::vector<Prediction>& predictions) {
  std::ranges::sort(predictions, {}, &Prediction::value);
  double positive = 0;
  double negative = 0;  // samples before the current value
  double ordered = 0;   // pairs of a positive and a smaller negative one
  double correct = 0;
  for (std::size_t begin = 0; begin < predictions.size();) {
    double equal_positive = 0;
    std::size_t end = begin;
    for (; end < predictions.size() && predictions[end].value == predictions[begin].value; ++end) {
      equal_positive += predictions[end].is_positive ? 1 : 0;
      correct += predictions[end].is_positive == (predictions[end].value > 0) ? 1 : 0;
    }
    const double equal_negative = static_cast<double>(end - begin) - equal_positive;
    ordered += equal_positive * (negative + equal_negative / 2);
    positive += equal_positive;
    negative += equal_negative;
    begin = end;
  }
  PredictionQuality quality;
  if (!predictions.empty()) quality.accuracy = correct / static_cast<double>(predictions.size());
  if (positive > 0 && negative > 0) quality.auc = ordered / (positive * negative);
  return quality;
}

PredictionQuality quality_of_all(ParameterServer& server, const std::vector<Prediction>& of_rank) {
  std::vector<Prediction> all;
  const auto own = [&] {
    std::string bytes(of_rank.size() * sizeof(Prediction), '\0');
    if (!of_rank.empty()) std::memcpy(bytes.data(), of_rank.data(), bytes.size());
    return bytes;
  };
  for (const std::string& bytes : server.exchange("predictions", own)) {
    const std::size_t begin = all.size();
    all.resize(begin + bytes.size() / sizeof(Prediction));
    if (!bytes.empty()) std::memcpy(all.data() + begin, bytes.data(), bytes.size());
  }
  return prediction_quality(all);
}

TestSamples::TestSamples(adapm::ParameterManager& manager, const io::SparseSamples& samples,
                         const SampleForm& form, const std::vector<std::int32_t>& workers)
    : manager_(manager), size_(samples.all_samples()) {
  const io::DocumentPart part = part_of_rank(workers, manager.rank(), manager.ranks());
  for (std::size_t i = 0; i < part.width; ++i) {
    const auto indices = indices_of_worker(
        samples.samples(), [&](std::size_t sample) { return samples.number(sample); }, part, i);
    of_workers_.emplace_back(samples, indices, form);
  }
}

PredictionQuality TestSamples::quality(const ModelTables& tables, const Penalty* dual_penalty) const {
  std::vector<std::vector<Prediction>> own(of_workers_.size());
  manager_.server().run_workers(static_cast<std::int32_t>(of_workers_.size()), [&](Worker& worker) {
    const WorkerSamples& samples = of_workers_[worker.local_index()];
    std::vector<double> weights;
    pull_values(worker, tables.weights, samples.keys(), weights);
    if (dual_penalty != nullptr)
      for (double& weight : weights) weight = dual_penalty->weight(weight);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      own[worker.local_index()].push_back({dot(samples.features(i), weights.data()), samples.label(i) > 0});
    }
  });
  std::vector<Prediction> of_rank;
  for (const auto& predictions : own) of_rank.insert(of_rank.end(), predictions.begin(), predictions.end());
  return quality_of_all(manager_.server(), of_rank);
}

}  // namespace lapse::apps
