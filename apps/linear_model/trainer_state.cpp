// The state of a trainer in a checkpoint: the weights, and the solver's number for each sample, so that any
// number of workers can continue.
#include <nlohmann/json.hpp>

#include "apps/linear_model/trainer.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

// The numbers of a worker's samples, as keys.
std::vector<Key> sample_keys(const WorkerSamples& samples) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < samples.size(); ++i) keys.emplace_back(samples.number(i));
  return keys;
}

}  // namespace

RunIdentity LinearTrainer::identity() const {
  RunIdentity run;
  run.add("the program", "linear_model");
  run.add("the number of samples", problem_.samples);
  run.add("the checksum of the samples", checksum_);
  run.add("--bias", form_.bias);
  run.add("--loss", to_string(options_.loss));
  run.add("--cost", options_.cost);
  run.add("the L1 part of --penalty", options_.penalty.l1);
  run.add("the L2 part of --penalty", options_.penalty.l2);
  run.add("--solver", to_string(options_.solver.solver));
  if (options_.solver.solver == Solver::sgd) {
    run.add("--batch", options_.solver.batch);
    run.add("--batch-growth", options_.solver.batch_growth);
  }
  run.add("--seed", options_.solver.seed);
  return run;
}

JobProgress LinearTrainer::progress() const {
  return {.epochs = epochs_.empty() ? 0 : epochs_.back().epoch, .clocks = 0};
}

void LinearTrainer::resume(TrainingJob& job) {
  job.add(tables_.weights, "weights");
  sample_state_ = manager_.create_table<double>({.name = options_.tables + "-samples",
                                                 .keys = problem_.samples,
                                                 .consistency = Consistency::sequential});
  job.add(*sample_state_, "samples");
  if (const auto state = job.begin(identity())) {
    read_state([&] {
      const Json json = parse_state(state->global);
      first_gradient_ = json.at("first_gradient").get<double>();
      for (const Json& entry : json.at("epochs")) {
        LinearEpoch& record = epochs_.emplace_back();
        record.epoch = entry.at("epoch").get<std::uint64_t>();
        record.passes = entry.at("passes").get<double>();
        record.objective = entry.at("objective").get<double>();
        record.error = entry.at("error").get<double>();
        record.accuracy = entry.at("accuracy").get<double>();
        if (entry.contains("test_accuracy"))
          record.test = {entry["test_accuracy"].get<double>(), entry.at("test_auc").get<double>()};
        record.cost = phase_cost(entry.at("cost"));
      }
    });
    manager_.server().run_workers(local_workers_, [&](Worker& worker) {
      LinearSolver& solver = *solvers_[worker.local_index()];
      const std::span<double> numbers = solver.sample_state();
      if (numbers.empty()) return;
      worker.pull(*sample_state_, sample_keys(solver.samples()), numbers).wait();
    });
  }
  job.set_progress(progress());
}

SavedState LinearTrainer::saved_state() {
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    LinearSolver& solver = *solvers_[worker.local_index()];
    const std::span<const double> numbers = solver.sample_state();
    if (!numbers.empty()) worker.set(*sample_state_, sample_keys(solver.samples()), numbers).wait();
  });
  Json json{{"first_gradient", first_gradient_}, {"epochs", Json::array()}};
  for (const LinearEpoch& record : epochs_) {
    Json entry{{"epoch", record.epoch}, {"passes", record.passes},     {"objective", record.objective},
               {"error", record.error}, {"accuracy", record.accuracy}, {"cost", to_json(record.cost)}};
    if (record.test) {
      entry["test_accuracy"] = record.test->accuracy;
      entry["test_auc"] = record.test->auc;
    }
    json["epochs"].push_back(std::move(entry));
  }
  return {json.dump(), {}};
}

}  // namespace lapse::apps
