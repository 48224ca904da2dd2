#include "apps/topic_model/options.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/common/consistency_option.hpp"
#include "apps/common/option_conditions.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/technique_option.hpp"

namespace lapse::apps {

namespace {

void add_data_options(CLI::App& app, TopicModelOptions& options) {
  app.add_option("documents", options.documents,
                 "File of documents: the bag of words of the UCI repository; plain or packed by gzip, xz or "
                 "zstd")
      ->required()
      ->check(file_name());
  app.add_option("--vocabulary", options.vocabulary,
                 "File with a word on each line, in the order of their numbers")
      ->check(file_name());
}

void add_model_options(CLI::App& app, TopicTrainingOptions& training) {
  app.add_option("--topics", training.topics, "Topics")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--alpha", training.alpha,
                 "Prior of a document's topics: each counts as occurring this often; default: 50 / topics")
      ->check(number_above_0());
  app.add_option("--beta", training.beta, "Prior of a topic's words: each counts as occurring this often")
      ->check(number_above_0())
      ->capture_default_str();
}

void add_training_options(CLI::App& app, TopicModelOptions& options, OptionConditions& conditions) {
  TopicTrainingOptions& training = options.training;
  app.add_option("--epochs", training.epochs, "Epochs: each draws the topic of every token anew")
      ->check(integer_from_0())
      ->capture_default_str();
  app.add_option("--seed", training.worker.seed, "Of first topics and draws")
      ->check(integer_from_0())
      ->capture_default_str();
  app.add_option("--workers", training.workers,
                 "Workers on every rank, or a list: workers of each rank (2,0,1); at most 4096")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--batch", training.worker.batch, "Words whose counts are read and written together")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--lookahead", training.worker.lookahead, "Batches that are announced as intents ahead")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--evaluate-every", training.evaluate_every,
                 "Epochs between two computations of the likelihood; 0: only after the last")
      ->check(integer_from_0())
      ->capture_default_str();
  app.add_option(
         "--optimize-every", training.optimize_every,
         "Epochs between two optimizations of the priors, each topic's alpha and beta; 0: they stay as "
         "given")
      ->check(integer_from_0())
      ->capture_default_str();
  conditions.add(app.add_option("--optimize-after", training.optimize_after,
                                "Epochs before these begin: the first topics are random")
                     ->check(integer_from_0())
                     ->capture_default_str(),
                 "--optimize-every", [&training] { return training.optimize_every != 0; });
  add_technique(app, options.technique);
  add_consistency(app, training.consistency, "a batch");
  add_checkpoint_options(app, options.checkpoints, conditions);
}

void add_result_options(CLI::App& app, TopicModelOptions& options) {
  app.add_option("--output", options.output,
                 "Write the topics to this file: number, share of all tokens, most frequent words")
      ->check(file_name());
  app.add_option("--top-words", options.top_words, "Words of each topic that are shown and written")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--summary-json", options.summary_json, "Write the results to this file")
      ->check(file_name());
}

}  // namespace

void add_options(CLI::App& app, TopicModelOptions& options) {
  const auto conditions = std::make_shared<OptionConditions>();
  add_data_options(app, options);
  add_model_options(app, options.training);
  add_training_options(app, options, *conditions);
  add_result_options(app, options);
  add_settings(app, options.settings);
  app.final_callback([conditions, &options] {
    choose_settings(options.settings, options.technique);
    conditions->check();
  });
}

}  // namespace lapse::apps
