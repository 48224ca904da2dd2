#include "apps/linear_model/report.hpp"

#include <fmt/format.h>

#include "apps/common/management_report.hpp"

namespace lapse::apps {

namespace {

std::string_view error_name(const LinearTrainer& trainer) {
  return trainer.dual_penalty() != nullptr ? "gap" : "gradient";
}

std::string epochs_json(const LinearTrainer& trainer) {
  std::string json = "[";
  for (const LinearEpoch& record : trainer.epochs()) {
    json +=
        fmt::format(R"({}
    {{"epoch": {}, "passes": {}, "objective": {}, "error": {}, "accuracy": {}, )",
                    json.size() == 1 ? "" : ",", record.epoch, json_number(record.passes),
                    json_number(record.objective), json_number(record.error), json_number(record.accuracy));
    if (record.test) {
      json += fmt::format(R"("test_accuracy": {}, "test_auc": {}, )", json_number(record.test->accuracy),
                          json_number(record.test->auc));
    }
    json += fmt::format(R"("seconds": {}}})", json_number(record.cost.seconds));
  }
  return json + "]";
}

void add_share(Summary& summary, std::string_view name, double share, std::string_view label) {
  summary.add(name, share, label, fmt::format("{:.3f} %", 100 * share));
}

void add_quality(Summary& summary, const PredictionQuality& quality, const std::string& prefix,
                 const std::string& label) {
  add_share(summary, prefix + "accuracy", quality.accuracy, label + "accuracy");
  summary.add(prefix + "auc", quality.auc, label + "AUC", fmt::format("{:.5f}", quality.auc));
}

}  // namespace

std::string describe(const LinearTrainer& trainer) {
  const LinearProblem& problem = trainer.problem();
  const auto samples = static_cast<double>(problem.samples);
  return fmt::format("{} samples, {} features, {:.1f} of them in a sample; {} loss, solver {}",
                     problem.samples, problem.keys, static_cast<double>(problem.entries) / samples,
                     to_string(problem.loss), to_string(trainer.options().solver.solver));
}

std::string describe(const LinearEpoch& record, const LinearTrainer& trainer) {
  std::string text =
      fmt::format("epoch {:4}  {:9.4f} s  {:6.1f} passes  objective {:.7g}  {} {:.2e}  accuracy {:.3f} %",
                  record.epoch, record.cost.seconds, record.passes, record.objective, error_name(trainer),
                  record.error, 100 * record.accuracy);
  if (record.test)
    text += fmt::format("  test {:.3f} %  AUC {:.5f}", 100 * record.test->accuracy, record.test->auc);
  return text;
}

void add_training(Summary& summary, const LinearTrainer& trainer, adapm::Technique technique,
                  const adapm::Statistics& statistics) {
  PhaseCost total;
  for (const LinearEpoch& record : trainer.epochs()) total += record.cost;
  const LinearEpoch& last = trainer.epochs().back();
  summary.add("workers", std::uint64_t{trainer.workers()}, "workers");
  summary.add("solver", to_string(trainer.options().solver.solver), "solver");
  summary.add("epochs", last.epoch, "epochs");
  summary.add("passes", last.passes, "  passes over the samples", fmt::format("{:.1f}", last.passes));
  summary.add("objective", last.objective, "objective", fmt::format("{:.9g}", last.objective));
  summary.add("error", last.error, fmt::format("  {}", error_name(trainer)),
              fmt::format("{:.3e}, {}", last.error,
                          trainer.has_converged() ? "within the tolerance" : "above the tolerance"));
  add_share(summary, "accuracy", last.accuracy, "accuracy of the training");
  if (last.test) add_quality(summary, *last.test, "test_", "test ");
  summary.add("seconds", total.seconds, "time of the training", fmt::format("{:.4f} s", total.seconds));
  add_costs(summary, total, last.epoch);
  add_management(summary, technique, total, statistics, last.epoch);
  summary.add_json("history", epochs_json(trainer));
  summary.add_json("statistics", statistics.to_json());
}

void add_prediction(Summary& summary, const PredictionResult& result) {
  summary.add("samples", result.samples, "samples");
  if (result.has_labels) add_quality(summary, result.quality, "", "");
}

}  // namespace lapse::apps
