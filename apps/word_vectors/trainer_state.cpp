// The state of a trainer in a checkpoint, besides its tables.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/common/worker_counts.hpp"
#include "apps/word_vectors/trainer.hpp"

namespace lapse::apps {

namespace {

Json record_json(const EpochRecord& record) {
  return {{"loss", record.loss}, {"words", record.words}, {"cost", to_json(record.cost)}};
}

EpochRecord record_of(const Json& json, std::uint64_t epoch) {
  return {epoch, json.at("loss").get<double>(), json.at("words").get<std::uint64_t>(),
          phase_cost(json.at("cost"))};
}

Json position_json(const EpochProgress& position) {
  return {{"words", position.words},
          {"loss", position.loss.loss},
          {"contexts", position.loss.contexts},
          {"batches", position.batches},
          {"ended", position.ended}};
}

EpochProgress position_of(const Json& json) {
  EpochProgress position;
  position.words = json.at("words").get<std::uint64_t>();
  position.loss = {json.at("loss").get<double>(), json.at("contexts").get<std::uint64_t>()};
  position.batches = json.at("batches").get<std::uint64_t>();
  position.ended = json.at("ended").get<bool>();
  return position;
}

std::uint64_t checksum(const Corpus& corpus) {
  DataChecksum sum;
  for (WordId word = 0; word < corpus.words.size(); ++word) {
    sum.add(corpus.words.name(word));
    sum.add(std::uint64_t{corpus.words.count(word)});
  }
  return sum.value();
}

}  // namespace

RunIdentity Trainer::identity() const {
  const RunnerOptions& runner = options_.runner;
  const WindowOptions& windows = runner.windows;
  RunIdentity run;
  run.add("the program", "word_vectors");
  run.add("the number of words", corpus_.occurrences);
  run.add("the number of different words", std::uint64_t{corpus_.words.size()});
  run.add("the checksum of the words", checksum(corpus_));
  run.add("the number of files", std::uint64_t{corpus_.files.size()});
  run.add("the checksum of the files", corpus_.files_checksum);
  run.add("--dim", std::uint64_t{options_.dimensions});
  run.add("--window", std::uint64_t{windows.window});
  run.add("--negatives", std::uint64_t{windows.negatives});
  run.add("--separate-negatives", !windows.shared_negatives);
  run.add("--negative-uses", std::uint64_t{windows.negative_uses});
  run.add("--noise-exponent", windows.noise_exponent);
  run.add("--subsample", windows.subsample);
  run.add("--batch", std::uint64_t{windows.batch});
  run.add("--optimiser", runner.optimiser == Optimiser::sgd ? "sgd" : "adagrad");
  run.add("--rate", runner.rate);
  run.add("--epochs", runner.epochs);
  run.add("--shuffle", std::uint64_t{runner.shuffle});
  run.add("--seed", runner.seed);
  run.add("--deterministic", runner.deterministic);
  if (runner.deterministic)
    run.add("the number of workers of each rank", worker_text(options_.workers, manager_.ranks()));
  return run;
}

JobProgress Trainer::progress() const {
  return {.epochs = epochs_.size(), .clocks = clocks_ + part_clocks_};
}

bool Trainer::begin(TrainingJob& job) {
  job.add(tables_.inputs, "inputs");
  job.add(tables_.outputs, "outputs");
  const auto state = job.begin(identity());
  if (state) read_state([&] { set_state(*state); });
  job.set_progress(progress());
  return state.has_value();
}

SavedState Trainer::saved_state() const {
  Json json{{"cost_of_part", to_json(part_cost_)}, {"clocks", clocks_}, {"epochs", Json::array()}};
  for (const EpochRecord& record : epochs_) json["epochs"].push_back(record_json(record));
  SavedState state{json.dump(), {}};
  for (const EpochProgress& position : positions_) state.per_worker.push_back(position_json(position).dump());
  return state;
}

void Trainer::set_state(const SavedState& state) {
  const Json json = parse_state(state.global);
  part_cost_ = phase_cost(json.at("cost_of_part"));
  clocks_ = json.at("clocks").get<std::uint64_t>();
  epochs_.clear();
  for (const Json& record : json.at("epochs")) epochs_.push_back(record_of(record, epochs_.size() + 1));

  std::vector<EpochProgress> workers;
  EpochProgress sum;
  for (const std::string& text : state.per_worker) {
    workers.push_back(position_of(parse_state(text)));
    sum.words += workers.back().words;
    sum.loss += workers.back().loss;
    sum.batches += workers.back().batches;
  }
  // With another number of workers, the same batches are a different number of clocks.
  part_clocks_ = sum.batches / this->workers();
  const std::size_t first = workers_before(options_.workers, manager_.rank());
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const std::size_t worker = first + i;
    if (workers.size() == this->workers()) {
      positions_[i] = workers[worker];
      continue;
    }
    // With another number of workers, each has done the same share, with an equal number of words.
    positions_[i] = {};
    positions_[i].words = sum.words / this->workers();
    if (worker == 0) positions_[i].loss = sum.loss;
  }
}

}  // namespace lapse::apps
