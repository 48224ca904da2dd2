// The state of a trainer in a checkpoint: the topics of all tokens, by document, so that any number of
// workers can continue.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/topic_model/trainer.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

// Of a document in the table, whose values have at least one element.
std::size_t saved_length(std::uint64_t tokens) {
  return std::max<std::size_t>(1, tokens);
}

}  // namespace

RunIdentity TopicTrainer::identity() const {
  RunIdentity run;
  run.add("the program", "topic_model");
  run.add("the number of documents", std::uint64_t{lengths_.size()});
  run.add("the number of different words", priors_.words);
  run.add("the checksum of the documents", checksum_);
  run.add("--topics", std::uint64_t{priors_.topics()});
  run.add("--alpha", options_.priors(priors_.words).alpha.front());
  run.add("--beta", options_.beta);
  run.add("--optimize-every", options_.optimize_every);
  if (options_.optimize_every != 0) run.add("--optimize-after", options_.optimize_after);
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
       .lengths = [lengths = lengths_](Key document) { return saved_length(lengths[document.index()]); },
       .consistency = Consistency::sequential});
  job.add(*topics_of_documents_, "documents");
  const auto state = job.begin(identity());
  if (state) {
    read_state([&] {
      const Json json = parse_state(state->global);
      for (const Json& record : json.at("epochs")) {
        TopicEpoch& epoch = epochs_.emplace_back();
        epoch.epoch = epochs_.size();
        epoch.cost = phase_cost(record.at("cost"));
        if (const Json& likelihood = record.at("likelihood"); !likelihood.is_null())
          epoch.likelihood = likelihood.get<double>();
        if (record.contains("held_out")) epoch.held_out = record["held_out"].get<double>();
        if (record.contains("priors")) {
          const Json& priors = record["priors"];
          epoch.priors = {priors.at("all_alpha").get<double>(), priors.at("beta").get<double>(),
                          priors.at("seconds").get<double>()};
        }
      }
      if (json.contains("alpha")) read_priors(json);
    });
    manager_.server().run_workers(local_workers_, [&](Worker& worker) { read_topics(worker); });
  }
  job.set_progress(progress());
  return state.has_value();
}

void TopicTrainer::read_priors(const Json& state) {
  const TopicPriors priors{.alpha = state.at("alpha").get<std::vector<double>>(),
                           .beta = state.at("beta").get<double>(),
                           .words = priors_.words};
  if (priors.topics() != priors_.topics())
    throw ConfigurationError(fmt::format("the checkpoint has priors of {} topics, expected those of {}",
                                         priors.topics(), priors_.topics()));
  check_priors(priors);
  set_priors(priors);
}

void TopicTrainer::read_topics(Worker& worker) {
  constexpr std::size_t kDocumentsPerPull = 1024;
  TopicWorker& own = *workers_[worker.local_index()];
  const WordTokens& tokens = own.tokens();
  std::vector<std::int32_t> values;  // of the documents that were pulled last
  std::size_t next = 0;
  std::size_t document = 0;
  own.set_topics([&](std::uint64_t number, std::span<TopicId> topics) {
    if (next == values.size()) {
      std::vector<Key> keys;
      std::size_t length = 0;
      for (std::size_t i = document; i < std::min(document + kDocumentsPerPull, tokens.documents()); ++i) {
        keys.emplace_back(tokens.number(i));
        length += saved_length(tokens.length(i));
      }
      values.resize(length);
      worker.pull(*topics_of_documents_, keys, values).wait();
      next = 0;
    }
    ++document;
    for (TopicId& topic : topics) {
      const std::int32_t value = values[next++];
      if (value < 0 || static_cast<std::size_t>(value) >= priors_.topics())
        throw ConfigurationError(
            fmt::format("the checkpoint has topic {} for a word of document {}", value, number + 1));
      topic = static_cast<TopicId>(value);
    }
    next += saved_length(topics.size()) - topics.size();
  });
}

SavedState TopicTrainer::saved_state() {
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    std::vector<std::int32_t> values;
    workers_[worker.local_index()]->topics_of_documents(
        [&](std::uint64_t number, std::span<const TopicId> topics) {
          values.assign(topics.begin(), topics.end());
          values.resize(saved_length(topics.size()));
          worker.set(*topics_of_documents_, Key{number}, values);
        });
    worker.wait_all();
  });
  Json json{{"epochs", Json::array()}};
  for (const TopicEpoch& record : epochs_) {
    Json entry{{"likelihood", nullptr}, {"cost", to_json(record.cost)}};
    if (record.likelihood) entry["likelihood"] = *record.likelihood;
    if (record.held_out) entry["held_out"] = *record.held_out;
    if (record.priors) {
      entry["priors"] = {{"all_alpha", record.priors->all_alpha},
                         {"beta", record.priors->beta},
                         {"seconds", record.priors->seconds}};
    }
    json["epochs"].push_back(std::move(entry));
  }
  if (options_.optimize_every != 0) {
    json["alpha"] = priors_.alpha;
    json["beta"] = priors_.beta;
  }
  return {json.dump(), {}};
}

}  // namespace lapse::apps
