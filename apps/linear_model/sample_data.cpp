#include "apps/linear_model/sample_data.hpp"

#include <fmt/format.h>

#include <utility>

#include "apps/common/worker_parts.hpp"
#include "apps/common/worker_readers.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/loading/shared_inputs.hpp"

namespace lapse::apps {

namespace {

SampleClasses classes_of(const io::SparseSamples& samples, const std::string& file) {
  const auto& labels = samples.all_labels();
  if (labels.size() == 1) {
    throw FileError(file, fmt::format("all of its {} samples have the label {}, expected two labels",
                                      samples.all_samples(), labels.begin()->first));
  }
  if (labels.size() != 2) {
    throw FileError(file, fmt::format("has {} labels, {}, {}, {}, ..., expected two", labels.size(),
                                      labels.begin()->first, std::next(labels.begin())->first,
                                      std::next(labels.begin(), 2)->first));
  }
  return {.positive = labels.rbegin()->first, .negative = labels.begin()->first};
}

}  // namespace

io::SvmFile load_samples(ParameterServer& server, const std::string& file, io::FirstFeature first,
                         const std::vector<std::int32_t>& workers) {
  check_worker_counts(workers, server.ranks());
  const io::DocumentPart part = part_of_rank(workers, server.rank(), server.ranks());
  io::SvmFile samples;
  server.run_workers(1, [&](Worker& worker) {
    samples = io::read_svm_file(io::shared_inputs({file}, worker_readers(server, worker)).front(),
                                {.first_feature = first, .part = part});
  });
  return samples;
}

TrainingSamples load_training_samples(ParameterServer& server, const SampleOptions& options,
                                      const std::vector<std::int32_t>& workers) {
  io::SvmFile file = load_samples(server, options.file, options.first_feature, workers);
  const SampleClasses classes = classes_of(file.samples, options.file);
  if (file.samples.all_features() == 0)
    throw FileError(options.file, "none of its samples has a feature, expected label feature:value ...");
  const SampleForm form{
      .positive = classes.positive, .features = file.samples.all_features(), .bias = options.bias};
  return {.samples = std::move(file.samples),
          .first_feature = file.first_feature,
          .form = form,
          .classes = classes};
}

io::SparseSamples load_test_samples(ParameterServer& server, const std::string& file, io::FirstFeature first,
                                    const SampleClasses& classes, const std::vector<std::int32_t>& workers) {
  io::SparseSamples samples = load_samples(server, file, first, workers).samples;
  for (const auto& [label, count] : samples.all_labels()) {
    if (label == classes.positive || label == classes.negative) continue;
    throw FileError(file, fmt::format("{} samples have the label {}, expected {} or {}, as in the training",
                                      count, label, classes.negative, classes.positive));
  }
  return samples;
}

}  // namespace lapse::apps
