#include "apps/linear_model/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "apps/common/manager_program.hpp"
#include "apps/common/worker_parts.hpp"
#include "lapse/io/files/output_file.hpp"

namespace lapse::apps {

namespace {

constexpr std::uint64_t kSamplesPerPiece = std::uint64_t{1} << 20U;  // that are written together

std::string to_lines(const LinearModel& model, std::span<const double> values) {
  std::string text;
  for (const double value : values) {
    fmt::format_to(std::back_inserter(text), "{}\t{:.9g}",
                   value > 0 ? model.classes.positive : model.classes.negative, value);
    if (model.loss == Loss::logistic)
      fmt::format_to(std::back_inserter(text), "\t{:.6g}", -LogisticLoss::slope(-value));
    text += '\n';
  }
  return text;
}

}  // namespace

PredictionResult write_predictions(ParameterServer& server, const LinearModel& model,
                                   const PredictionOptions& options,
                                   const std::vector<std::int32_t>& workers) {
  std::optional<io::OutputFile> output;
  run_on_rank_0(server, [&](Worker&) { output.emplace(options.output); });
  const io::SparseSamples samples =
      load_samples(server, options.samples, options.first_feature, workers).samples;
  PredictionResult result{.samples = samples.all_samples()};
  result.has_labels = std::ranges::all_of(samples.all_labels(), [&](const auto& entry) {
    return entry.first == model.classes.positive || entry.first == model.classes.negative;
  });
  std::vector<std::size_t> indices(samples.samples());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  std::vector<Prediction> own;
  std::vector<double> values(samples.samples());
  server.run_workers(1, [&](Worker&) {
    const WorkerSamples rows(samples, indices, model.form);
    std::vector<double> weights;
    for (const Key key : rows.keys()) weights.push_back(model.weights[key.index()]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      values[i] = dot(rows.features(i), weights.data());
      own.push_back({values[i], rows.label(i) > 0});
    }
  });
  std::size_t next = 0;  // of this rank's samples
  std::vector<double> piece;
  for (std::uint64_t first = 0; first < result.samples; first += kSamplesPerPiece) {
    piece.assign(std::min(kSamplesPerPiece, result.samples - first), 0);
    for (; next < values.size() && samples.number(next) < first + piece.size(); ++next)
      piece[samples.number(next) - first] = values[next];
    server.run_workers(1, [&](Worker& worker) {
      worker.all_reduce(piece);  // each value has been set by one rank
      if (output) output->write(to_lines(model, piece));
    });
  }
  run_on_rank_0(server, [&](Worker&) { output->close(); });
  if (result.has_labels) result.quality = quality_of_all(server, own);
  return result;
}

}  // namespace lapse::apps
