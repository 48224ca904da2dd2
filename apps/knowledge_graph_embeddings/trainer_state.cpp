// The state of a trainer in a checkpoint, besides its tables.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/common/worker_counts.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"

namespace lapse::apps {

namespace {

Json metrics_json(const RankingMetrics& metrics) {
  return {metrics.ranks, metrics.mean_reciprocal_rank, metrics.hits_at_1, metrics.hits_at_3,
          metrics.hits_at_10};
}

RankingMetrics metrics_of(const Json& json) {
  return {json.at(0).get<std::uint64_t>(), json.at(1).get<double>(), json.at(2).get<double>(),
          json.at(3).get<double>(), json.at(4).get<double>()};
}

Json split_json(const SplitMetrics& split) {
  return {{"all", metrics_json(split.all)}, {"seen", metrics_json(split.seen)}};
}

SplitMetrics split_of(const Json& json) {
  return {metrics_of(json.at("all")), metrics_of(json.at("seen"))};
}

Json record_json(const EpochRecord& record) {
  Json json{{"loss", record.loss}, {"cost", to_json(record.cost)}};
  if (record.evaluation) {
    json["valid"] = split_json(record.evaluation->valid);
    json["test"] = split_json(record.evaluation->test);
    json["evaluation_seconds"] = record.evaluation->seconds;
  }
  return json;
}

EpochRecord record_of(const Json& json, std::uint64_t epoch) {
  EpochRecord record{epoch, json.at("loss").get<double>(), std::nullopt, phase_cost(json.at("cost"))};
  if (json.contains("valid"))
    record.evaluation = {split_of(json.at("valid")), split_of(json.at("test")),
                         json.at("evaluation_seconds").get<double>()};
  return record;
}

std::uint64_t checksum(const std::vector<Triple>& triples) {
  DataChecksum sum;
  for (const Triple& triple : triples) {
    sum.add((std::uint64_t{triple.subject} << 32U) | triple.object);
    sum.add(std::uint64_t{triple.relation});
  }
  return sum.value();
}

}  // namespace

RunIdentity Trainer::identity() const {
  const RunnerOptions& runner = options_.runner;
  RunIdentity run;
  run.add("the program", "knowledge_graph_embeddings");
  run.add("the number of entities", graph_.entities);
  run.add("the number of relations", graph_.relations);
  run.add("the number of training triples", std::uint64_t{graph_.train.size()});
  run.add("the checksum of the training triples", checksum(graph_.train));
  run.add("--model", to_string(options_.model.kind));
  run.add("--dim", std::uint64_t{options_.model.dimensions});
  run.add("--margin", double{options_.model.margin});
  run.add("--reciprocal", options_.reciprocal);
  run.add("--loss", runner.loss.kind == LossKind::softmax ? "softmax" : "logistic");
  run.add("--negatives", runner.negatives.sharing == NegativeSharing::all
                             ? "all"
                             : fmt::format("{}", runner.negatives.per_side));
  run.add("--shared-negatives", runner.negatives.sharing == NegativeSharing::batch);
  run.add("--l2", double{runner.loss.l2});
  run.add("--n3", double{runner.loss.n3});
  run.add("--entity-dropout", runner.loss.dropout.entity);
  run.add("--relation-dropout", runner.loss.dropout.relation);
  run.add("--optimiser", options_.optimiser.kind == OptimiserKind::adam ? "adam" : "adagrad");
  run.add("--rate", double{options_.optimiser.learning_rate});
  run.add("--initial-accumulator", options_.optimiser.initial_accumulator);
  run.add("--epsilon", double{options_.optimiser.epsilon.value_or(0)});
  run.add("--rate-decay", options_.schedule.rate_decay);
  run.add("--plateau-decay", options_.schedule.plateau_decay);
  run.add("--patience", stops_early() ? "above 0" : "0");
  if (stops_early() || options_.schedule.plateau_decay != 1) {
    run.add("the number of validation triples", std::uint64_t{graph_.valid.size()});
    run.add("the checksum of the validation triples", checksum(graph_.valid));
  }
  run.add("--batch", std::uint64_t{runner.batch});
  run.add("--seed", options_.seed);
  run.add("--deterministic", runner.deterministic);
  if (runner.deterministic)
    run.add("the number of workers of each rank", worker_text(options_.workers, manager_.ranks()));
  return run;
}

bool Trainer::begin(TrainingJob& job) {
  job.add(tables_.entities, "entities");
  job.add(tables_.relations, "relations");
  if (best_) {
    job.add(best_->tables().entities, "best-entities");
    job.add(best_->tables().relations, "best-relations");
  }
  const auto state = job.begin(identity());
  if (state) read_state([&] { set_state(*state); });
  job.set_progress(progress());
  return state.has_value();
}

JobProgress Trainer::progress() const {
  return {.epochs = epochs_.size(), .clocks = clocks_ + part_clocks_};
}

SavedState Trainer::saved_state() const {
  Json json{{"cost_of_part", to_json(part_cost_)},
            {"best_epoch", best_epoch_},
            {"failures", schedule_.state().failures},
            {"plateau_rate", schedule_.state().plateau_rate},
            {"clocks", clocks_},
            {"epochs", Json::array()}};
  if (schedule_.state().best) json["best"] = *schedule_.state().best;
  for (const EpochRecord& record : epochs_) json["epochs"].push_back(record_json(record));
  SavedState state{json.dump(), {}};
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    const Json worker{
        {"batches", positions_[i].batches}, {"of", runners_[i]->batches()}, {"loss", positions_[i].loss}};
    state.per_worker.push_back(worker.dump());
  }
  return state;
}

void Trainer::set_state(const SavedState& state) {
  const Json json = parse_state(state.global);
  part_cost_ = phase_cost(json.at("cost_of_part"));
  best_epoch_ = json.at("best_epoch").get<std::size_t>();
  clocks_ = json.at("clocks").get<std::uint64_t>();
  TrainingSchedule::State schedule{.failures = json.at("failures").get<std::uint64_t>(),
                                   .plateau_rate = json.at("plateau_rate").get<double>()};
  if (json.contains("best")) schedule.best = json.at("best").get<double>();
  schedule_.set_state(schedule);
  epochs_.clear();
  for (const Json& record : json.at("epochs")) epochs_.push_back(record_of(record, epochs_.size() + 1));

  std::vector<Json> workers;
  double done = 0;
  double all = 0;
  double loss = 0;
  for (const std::string& text : state.per_worker) {
    workers.push_back(parse_state(text));
    done += workers.back().at("batches").get<double>();
    all += workers.back().at("of").get<double>();
    loss += workers.back().at("loss").get<double>();
  }
  // Equal on all ranks: otherwise some workers would resume and others would not.
  const auto has_same = [&](std::size_t worker) {
    const std::size_t batch = options_.runner.batch;
    return workers[worker].at("of").get<std::size_t>() == (partition_.count(worker) + batch - 1) / batch;
  };
  bool same = workers.size() == partition_.workers();
  for (std::size_t worker = 0; same && worker < workers.size(); ++worker) same = has_same(worker);
  const double share = all == 0 ? 0 : done / all;
  // With another number of workers, the same batches are a different number of clocks.
  part_clocks_ = static_cast<std::uint64_t>(done) / partition_.workers();
  const std::size_t first = workers_before(options_.workers, manager_.rank());
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    const std::size_t batches = runners_[i]->batches();
    const std::size_t worker = first + i;
    // With another number of workers, or another partition, each has done the same share.
    positions_[i].batches = same ? workers[worker].at("batches").get<std::size_t>()
                                 : static_cast<std::size_t>(share * static_cast<double>(batches));
    positions_[i].loss = same ? workers[worker].at("loss").get<double>() : worker == 0 ? loss : 0;
  }
}

}  // namespace lapse::apps
