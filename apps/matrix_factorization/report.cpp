#include "apps/matrix_factorization/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "apps/common/management_report.hpp"
#include "apps/matrix_factorization/ranking/ranking_report.hpp"

namespace lapse::apps {

namespace {

PhaseCost total_cost(const Trainer& trainer) {
  PhaseCost total;
  for (const EpochRecord& record : trainer.epochs()) total += record.cost;
  return total;
}

std::string json_number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : "null";
}

std::string epochs_json(const Trainer& trainer) {
  std::string json = "[";
  for (const EpochRecord& record : trainer.epochs()) {
    json +=
        fmt::format("{}\n    {{\"epoch\": {}, \"learning_rate\": {}, \"seconds\": {}, \"local_share\": {}",
                    json.size() == 1 ? "" : ",", record.epoch, json_number(record.learning_rate),
                    json_number(record.cost.seconds), json_number(local_share(record.cost.accesses)));
    if (record.errors) {
      json += fmt::format(", \"train_rmse\": {}, \"test_rmse\": {}", json_number(record.errors->train_rmse),
                          json_number_or_null(record.errors->test_rmse));
    }
    if (record.train_loss) json += fmt::format(", \"train_loss\": {}", json_number(*record.train_loss));
    if (record.quality) json += quality_json(*record.quality, trainer.options().ranking.top);
    json += "}";
  }
  return json + "]";
}

// "943 users, from 1 to 943" or "3 users, from 'ada' to 'eve'"
std::string ids_text(std::string_view noun, std::uint64_t count, const std::vector<std::uint64_t>& ids,
                     const io::Vocabulary& names) {
  if (!names.empty()) {
    const auto last = static_cast<io::Vocabulary::Id>(names.size() - 1);
    return fmt::format("{} {} with names, from '{}' to '{}'", count, noun, names.name(0), names.name(last));
  }
  if (ids.empty()) return fmt::format("{} {}", count, noun);
  return fmt::format("{} {} with numbers, from {} to {}", count, noun, ids.front(), ids.back());
}

std::string id_text(std::uint32_t index, const std::vector<std::uint64_t>& ids, const io::Vocabulary& names) {
  if (!names.empty()) return fmt::format("'{}'", names.name(index));
  return std::to_string(ids.empty() ? index : ids[index]);
}

// Ratings of a user and an item that have been rated before.
std::uint64_t repeated_cells(std::vector<io::Cell> cells) {
  const auto position = [](const io::Cell& cell) { return std::pair(cell.row, cell.column); };
  std::ranges::sort(cells, {}, position);
  std::uint64_t repeated = 0;
  for (std::size_t i = 1; i < cells.size(); ++i)
    repeated += position(cells[i - 1]) == position(cells[i]) ? 1U : 0U;
  return repeated;
}

void add_errors(Summary& summary, const Errors& errors) {
  summary.add("best_train_rmse", errors.train_rmse, "  train RMSE");
  if (errors.test_rmse)
    summary.add("best_test_rmse", *errors.test_rmse, "  test RMSE");
  else
    summary.add_json("best_test_rmse", "null");
}

}  // namespace

std::string describe_data(const FactorizationProblem& problem) {
  std::string text;
  for (const std::string& layout : problem.layouts) text += layout + "\n";
  text += ids_text("users", problem.rows, problem.row_ids, problem.row_names) + "\n";
  text += ids_text("items", problem.columns, problem.column_ids, problem.column_names) + "\n";
  const auto [least, greatest] = std::ranges::minmax_element(problem.train, {}, &io::Cell::value);
  text += fmt::format("{} ratings to train on, from {} to {}, mean {:.4f}; {} held out\n",
                      problem.train.size(), least->value, greatest->value, problem.mean, problem.test.size());
  if (problem.left_out != 0) text += fmt::format("{} lower ratings are left out\n", problem.left_out);
  text += fmt::format("{} ratings to train on are of a user and an item that were rated before\n",
                      repeated_cells(problem.train));
  constexpr std::size_t kShownRatings = 5;
  for (const io::Cell& cell : std::span(problem.train).first(std::min(kShownRatings, problem.train.size()))) {
    text += fmt::format("user {}, item {}: {}\n", id_text(cell.row, problem.row_ids, problem.row_names),
                        id_text(cell.column, problem.column_ids, problem.column_names), cell.value);
  }
  return text;
}

std::string describe(const FactorizationProblem& problem, const BaselineResults& baselines) {
  std::string text =
      fmt::format("{} x {} matrix, {} cells to train on, {} held out, mean {:.4f}", problem.rows,
                  problem.columns, problem.train.size(), problem.test.size(), problem.mean);
  if (problem.left_out != 0) text += fmt::format("; {} lower ratings are left out", problem.left_out);
  if (baselines.errors) {
    text += fmt::format("\nbaselines: test RMSE {:.4f} with the mean, {:.4f} with biases",
                        baselines.errors->mean, baselines.errors->biases);
  }
  return text;
}

std::string describe_popularity(const RankingQuality& quality, std::size_t top) {
  if (quality.users == 0) return {};
  return fmt::format("most popular items, {} users: test {}\n", quality.users, describe(quality, top));
}

std::string describe(const EpochRecord& record, std::size_t top) {
  std::string text =
      fmt::format("epoch {:3}  rate {:.5f}  {:9.5f} s  local {:6.2f} %", record.epoch, record.learning_rate,
                  record.cost.seconds, 100 * local_share(record.cost.accesses));
  if (record.errors) {
    text += fmt::format("  train RMSE {:.4f}", record.errors->train_rmse);
    if (record.errors->test_rmse) text += fmt::format("  test RMSE {:.4f}", *record.errors->test_rmse);
  }
  if (record.train_loss) text += fmt::format("  train loss {:.4f}", *record.train_loss);
  if (record.quality && record.quality->users != 0) text += "  test " + describe(*record.quality, top);
  return text;
}

Summary summarize(const Trainer& trainer, const FactorizationProblem& problem,
                  const BaselineResults& baselines, const adapm::Statistics& statistics) {
  const std::uint64_t epochs = trainer.epochs().size();
  Summary summary;
  const RankingOptions& ranking = trainer.options().ranking;
  if (baselines.errors) {
    summary.add("baseline_mean_rmse", baselines.errors->mean);
    summary.add("baseline_biases_rmse", baselines.errors->biases);
  }
  if (baselines.popularity)
    add_quality(summary, "baseline_popularity_", *baselines.popularity, ranking.top, false);
  summary.add("loss", to_string(ranking.loss));
  if (const EpochRecord* const best = trainer.best()) {
    summary.add("best_epoch", best->epoch, "best epoch");
    if (best->errors) add_errors(summary, *best->errors);
    if (best->train_loss) summary.add("best_train_loss", *best->train_loss, "  train loss");
    if (best->quality) {
      add_quality(summary, "best_test_", *best->quality, ranking.top, true);
      summary.add("test_users", best->quality->users);
    }
  }
  summary.add("workers", std::uint64_t{trainer.schedule().workers()}, "workers");
  const double imbalance = block_imbalance(problem, trainer.schedule());
  summary.add("block_imbalance", imbalance, "blocks", fmt::format("{:.3f} times the even size", imbalance));
  summary.add("epochs", epochs, "epochs");
  const PhaseCost total = total_cost(trainer);
  add_costs(summary, total, epochs);
  if (trainer.options().runner.mode == TrainingMode::intent)
    add_management(summary, trainer.technique(), total, statistics, epochs);
  if (!ranking.ranks()) summary.add("mean", double{trainer.model().mean()});
  summary.add_json("history", epochs_json(trainer));
  summary.add_json("statistics", statistics.to_json());
  return summary;
}

}  // namespace lapse::apps
