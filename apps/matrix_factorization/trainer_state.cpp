// The state of a trainer in a checkpoint, besides its table.
#include <bit>
#include <nlohmann/json.hpp>

#include "apps/common/worker_counts.hpp"
#include "apps/matrix_factorization/trainer.hpp"

namespace lapse::apps {

namespace {

Json record_json(const EpochRecord& record) {
  Json json{{"learning_rate", record.learning_rate}, {"cost", to_json(record.cost)}};
  if (record.errors) {
    json["train_rmse"] = record.errors->train_rmse;
    if (record.errors->test_rmse) json["test_rmse"] = *record.errors->test_rmse;
  }
  if (record.train_loss) json["train_loss"] = *record.train_loss;
  if (record.quality) {
    const RankingQuality& quality = *record.quality;
    json["quality"] = {quality.users, quality.precision, quality.recall, quality.average_precision,
                       quality.ndcg,  quality.auc};
  }
  return json;
}

EpochRecord record_of(const Json& json, std::uint64_t epoch) {
  EpochRecord record{epoch, json.at("learning_rate").get<double>(), std::nullopt,
                     phase_cost(json.at("cost"))};
  if (json.contains("train_rmse")) {
    record.errors = Errors{json.at("train_rmse").get<double>(), std::nullopt};
    if (json.contains("test_rmse")) record.errors->test_rmse = json.at("test_rmse").get<double>();
  }
  if (json.contains("train_loss")) record.train_loss = json.at("train_loss").get<double>();
  if (json.contains("quality")) {
    const Json& quality = json.at("quality");
    const auto number = [&](std::size_t i) { return quality.at(i).get<double>(); };
    record.quality = RankingQuality{
        quality.at(0).get<std::uint64_t>(), number(1), number(2), number(3), number(4), number(5)};
  }
  return record;
}

std::uint64_t checksum(const std::vector<io::Cell>& cells) {
  DataChecksum sum;
  for (const io::Cell& cell : cells) {
    sum.add((std::uint64_t{cell.row} << 32U) | cell.column);
    sum.add(std::uint64_t{std::bit_cast<std::uint32_t>(cell.value)});
  }
  return sum.value();
}

std::string_view name_of(UpdateRuleKind kind) {
  switch (kind) {
    case UpdateRuleKind::add:
      return "add";
    case UpdateRuleKind::sgd:
      return "sgd";
    case UpdateRuleKind::adagrad:
      return "adagrad";
    case UpdateRuleKind::rowwise_adagrad:
      return "rowwise-adagrad";
    case UpdateRuleKind::adam:
      return "adam";
    case UpdateRuleKind::ftrl:
      return "ftrl";
    case UpdateRuleKind::assign:
    case UpdateRuleKind::custom:
      break;
  }
  return "another";  // training supports no other
}

}  // namespace

RunIdentity Trainer::identity() const {
  const UpdateRuleOptions& rule = options_.update_rule;
  const bool decays = options_.learning_rate.kind == LearningRateOptions::Kind::decay;
  RunIdentity run;
  run.add("the program", "matrix_factorization");
  run.add("the number of rows", problem_.rows);
  run.add("the number of columns", problem_.columns);
  run.add("the number of training cells", std::uint64_t{problem_.train.size()});
  run.add("the number of held-out cells", std::uint64_t{problem_.test.size()});
  run.add("the checksum of the cells", checksum(problem_.train) ^ checksum(problem_.test));
  run.add("--loss", to_string(options_.ranking.loss));
  run.add("--rank", options_.rank);
  run.add("--biases", options_.biases);
  run.add("--l2", options_.l2_factors);
  run.add("--l2-biases", options_.l2_biases);
  run.add("--schedule", decays ? "decay" : "bold_driver");
  run.add("--rate", options_.learning_rate.initial);
  run.add("--decay", options_.learning_rate.decay);
  run.add("--update-rule", name_of(rule.kind));
  run.add("--initial-accumulator", rule.initial_accumulator);
  run.add("--beta1", rule.beta1);
  run.add("--beta2", rule.beta2);
  run.add("--beta", rule.beta);
  run.add("--l1", rule.l1);
  if (options_.ranking.ranks()) {
    run.add("--max-sampled", std::uint64_t{options_.ranking.max_sampled});
    run.add("--top", std::uint64_t{options_.ranking.top});
  }
  run.add("--order", options_.runner.order == CellOrder::sorted ? "sorted" : "shuffled");
  run.add("--seed", options_.seed);
  run.add("--deterministic", options_.deterministic);
  if (options_.deterministic) {
    run.add("the number of workers", std::uint64_t{total_workers(options_.workers, manager_.ranks())});
  }
  return run;
}

bool Trainer::begin(TrainingJob& job) {
  job.add(factors_.table, "factors");
  const auto state = job.begin(identity());
  if (state) read_state([&] { set_state(*state); });
  job.set_progress({.epochs = epochs_.size()});
  return state.has_value();
}

SavedState Trainer::saved_state() const {
  const LearningRate::State& rate = learning_rate_.state();
  Json json{{"learning_rate", {{"current", rate.current}, {"epochs", rate.epochs}, {"rmse", rate.last_rmse}}},
            {"epochs", Json::array()}};
  for (const EpochRecord& record : epochs_) json["epochs"].push_back(record_json(record));
  return {json.dump(), {}};
}

void Trainer::set_state(const SavedState& state) {
  const Json json = parse_state(state.global);
  const Json& rate = json.at("learning_rate");
  learning_rate_.set_state({.current = rate.at("current").get<double>(),
                            .epochs = rate.at("epochs").get<std::uint64_t>(),
                            .last_rmse = rate.at("rmse").get<double>()});
  epochs_.clear();
  for (const Json& record : json.at("epochs")) epochs_.push_back(record_of(record, epochs_.size() + 1));
}

}  // namespace lapse::apps
