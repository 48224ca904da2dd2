// The state of a trainer in a checkpoint: the topics of all tokens, by document, so that any number of
// workers can continue.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/topic_model/trainer.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

RunIdentity TopicTrainer::identity() const {
  DataChecksum sum;
  for (const std::uint64_t length : lengths_) sum.add(length);
  RunIdentity run;
  run.add("the program", "topic_model");
  run.add("the number of documents", std::uint64_t{lengths_.size()});
  run.add("the number of different words", priors_.words);
  run.add("the checksum of the documents' lengths", sum.value());
  run.add("--topics", std::uint64_t{priors_.topics});
  run.add("--alpha", priors_.alpha);
  run.add("--beta", priors_.beta);
  run.add("--seed", options_.worker.seed);
  return run;
}

JobProgress TopicTrainer::progress() const {
  return {.epochs = epochs_.size(), .clocks = 0};
}

bool TopicTrainer::resume(TrainingJob& job) {
  topics_of_documents_ = manager_.create_table<std::int32_t>(
      {.name = options_.tables + "-documents",
       .keys = lengths_.size(),
       .lengths = [lengths = lengths_](Key document) { return std::size_t{lengths[document.index()]}; },
       .consistency = Consistency::sequential});
  job.add(*topics_of_documents_, "documents");
  const auto state = job.begin(identity());
  if (state) {
    read_state([&] {
      const Json json = parse_state(state->global);
      for (const Json& record : json.at("epochs")) {
        const Json& likelihood = record.at("likelihood");
        epochs_.push_back({epochs_.size() + 1,
                           likelihood.is_null() ? std::nullopt : std::optional(likelihood.get<double>()),
                           phase_cost(record.at("cost"))});
      }
    });
    manager_.server().run_workers(local_workers_, [&](Worker& worker) {
      workers_[worker.local_index()]->set_topics([&](std::uint64_t number, std::span<TopicId> topics) {
        std::vector<std::int32_t> values(topics.size());
        worker.pull(*topics_of_documents_, Key{number}, values).wait();
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (values[i] < 0 || static_cast<std::size_t>(values[i]) >= priors_.topics)
            throw ConfigurationError(
                fmt::format("the checkpoint has topic {} for a word of document {}", values[i], number + 1));
          topics[i] = static_cast<TopicId>(values[i]);
        }
      });
    });
  }
  job.set_progress(progress());
  return state.has_value();
}

SavedState TopicTrainer::saved_state() {
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    std::vector<std::int32_t> values;
    workers_[worker.local_index()]->topics_of_documents(
        [&](std::uint64_t number, std::span<const TopicId> topics) {
          values.assign(topics.begin(), topics.end());
          worker.set(*topics_of_documents_, Key{number}, values);
        });
    worker.wait_all();
  });
  Json json{{"epochs", Json::array()}};
  for (const TopicEpoch& record : epochs_) {
    Json entry{{"likelihood", nullptr}, {"cost", to_json(record.cost)}};
    if (record.likelihood) entry["likelihood"] = *record.likelihood;
    json["epochs"].push_back(std::move(entry));
  }
  return {json.dump(), {}};
}

}  // namespace lapse::apps
