#include "apps/matrix_factorization/report.hpp"

#include <fmt/format.h>

#include <string_view>

namespace lapse::apps {

namespace {

std::uint64_t local_accesses(const TableCounters& counters) {
  return counters.local_pulls + counters.local_pushes;
}

std::uint64_t all_accesses(const TableCounters& counters) {
  return local_accesses(counters) + counters.queued_accesses + counters.remote_pulls + counters.remote_pushes;
}

double local_share(const TableCounters& counters) {
  const std::uint64_t accesses = all_accesses(counters);
  return accesses == 0 ? 1 : static_cast<double>(local_accesses(counters)) / static_cast<double>(accesses);
}

struct Totals {
  double seconds = 0;
  TableCounters accesses;
  RankCounters traffic;
};

Totals totals(const Trainer& trainer) {
  Totals totals;
  for (const EpochRecord& record : trainer.epochs()) {
    totals.seconds += record.seconds;
    totals.accesses += record.accesses;
    totals.traffic += record.traffic;
  }
  return totals;
}

std::string epochs_json(const Trainer& trainer) {
  std::string json = "[";
  for (const EpochRecord& record : trainer.epochs()) {
    json +=
        fmt::format("{}\n    {{\"epoch\": {}, \"learning_rate\": {}, \"seconds\": {}, \"local_share\": {}",
                    json.size() == 1 ? "" : ",", record.epoch, json_number(record.learning_rate),
                    json_number(record.seconds), json_number(local_share(record.accesses)));
    if (record.errors) {
      json += fmt::format(", \"train_rmse\": {}, \"test_rmse\": {}", json_number(record.errors->train_rmse),
                          json_number(record.errors->test_rmse));
    }
    json += "}";
  }
  return json + "]";
}

}  // namespace

std::string describe(const FactorizationProblem& problem, const std::optional<Baselines>& baselines) {
  std::string text =
      fmt::format("{} x {} matrix, {} cells to train on, {} held out, mean {:.4f}", problem.rows,
                  problem.columns, problem.train.size(), problem.test.size(), problem.mean);
  if (baselines) {
    text += fmt::format("\nbaselines: test RMSE {:.4f} with the mean, {:.4f} with biases", baselines->mean,
                        baselines->biases);
  }
  return text;
}

std::string describe(const EpochRecord& record) {
  std::string text = fmt::format("epoch {:3}  rate {:.5f}  {:9.5f} s  local {:6.2f} %", record.epoch,
                                 record.learning_rate, record.seconds, 100 * local_share(record.accesses));
  if (record.errors) {
    text += fmt::format("  train RMSE {:.4f}  test RMSE {:.4f}", record.errors->train_rmse,
                        record.errors->test_rmse);
  }
  return text;
}

Summary summarize(const Trainer& trainer, const FactorizationProblem& problem,
                  const std::optional<Baselines>& baselines, const Statistics& statistics) {
  const Totals sums = totals(trainer);
  const std::size_t epochs = trainer.epochs().size();
  const double divisor = epochs == 0 ? 1 : static_cast<double>(epochs);
  Summary summary;
  if (baselines) {
    summary.add("baseline_mean_rmse", baselines->mean);
    summary.add("baseline_biases_rmse", baselines->biases);
  }
  if (const EpochRecord* const best = trainer.best()) {
    summary.add("best_epoch", best->epoch, "best epoch");
    summary.add("best_train_rmse", best->errors->train_rmse, "  train RMSE");
    summary.add("best_test_rmse", best->errors->test_rmse, "  test RMSE");
  }
  const double per_epoch = sums.seconds / divisor;
  summary.add("workers", std::uint64_t{trainer.schedule().workers()}, "workers");
  const double imbalance = block_imbalance(problem, trainer.schedule());
  summary.add("block_imbalance", imbalance, "blocks", fmt::format("{:.3f} times the even size", imbalance));
  summary.add("epochs", std::uint64_t{epochs}, "epochs");
  summary.add("seconds_per_epoch", per_epoch, "time per epoch", fmt::format("{:.5f} s", per_epoch));
  const double share = local_share(sums.accesses);
  summary.add("local_share", share, "local accesses", fmt::format("{:.2f} %", 100 * share));
  const double relocations =
      sums.seconds > 0 ? static_cast<double>(sums.accesses.relocations_in) / sums.seconds : 0;
  summary.add("relocations_per_second", relocations, "relocations", fmt::format("{:.0f} /s", relocations));
  const double messages = static_cast<double>(sums.traffic.messages_sent) / divisor;
  summary.add("messages_per_epoch", messages, "messages", fmt::format("{:.0f} per epoch", messages));
  const double bytes = static_cast<double>(sums.traffic.bytes_sent) / divisor;
  summary.add("bytes_per_epoch", bytes, "bytes", fmt::format("{:.0f} per epoch", bytes));
  summary.add("mean", double{trainer.model().mean()});
  summary.add_json("history", epochs_json(trainer));
  summary.add_json("statistics", statistics.to_json());
  return summary;
}

}  // namespace lapse::apps
