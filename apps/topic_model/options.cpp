#include "apps/topic_model/options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>

#include "apps/common/consistency_option.hpp"
#include "apps/common/option_conditions.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/technique_option.hpp"
#include "apps/common/text_form.hpp"

namespace lapse::apps {

namespace {

// Options that have no effect when topics are inferred.
constexpr std::array kTrainingOptions{
    "--vocabulary",      "--topics",         "--alpha",          "--beta",
    "--held-out",        "--epochs",         "--seed",           "--batch",
    "--lookahead",       "--evaluate-every", "--optimize-every", "--checkpoint-dir",
    "--coherence-words", "--top-words",      "--output",         "--save-model"};

void add_data_options(CLI::App& app, TopicModelOptions& options, OptionConditions& conditions) {
  DocumentOptions& documents = options.documents;
  app.add_option(
         "documents", documents.file,
         "File of documents: the bag of words of the UCI repository, or text (--text); plain or packed by "
         "gzip, xz or zstd")
      ->required()
      ->check(file_name());
  app.add_flag_callback(
      "--text", [&documents] { documents.format = DocumentFormat::text; },
      "Files of documents have a document on each line: words separated by blanks");
  for (const CLI::Option* const option : add_text_form(app, documents.form)) {
    conditions.add(option, "--text", [&documents] { return documents.format == DocumentFormat::text; });
  }
  app.add_option("--vocabulary", documents.vocabulary,
                 "File with a word on each line, in the order of their numbers; with --text: words to keep")
      ->check(file_name());
  app.add_option("--held-out", options.held_out,
                 "File of documents that are not trained: half of the tokens of each are predicted, from the "
                 "other half, whenever the likelihood is computed")
      ->check(file_name());
  const auto chooses_words = [&options] {
    return options.documents.format == DocumentFormat::text && options.documents.vocabulary.empty() &&
           options.model.empty();
  };
  const char* const needed = "--text, without --vocabulary and --model";
  conditions.add(
      app.add_option("--min-count", documents.min_count, "Words that occur less often are left out")
          ->check(integer_from_0())
          ->capture_default_str(),
      needed, chooses_words);
  conditions.add(app.add_option("--stop-words", documents.stop_words,
                                "File with a word on each line: these are left out, too")
                     ->check(file_name()),
                 needed, chooses_words);
}

void add_model_options(CLI::App& app, TopicModelOptions& options) {
  TopicTrainingOptions& training = options.training;
  app.add_option("--topics", training.topics, "Topics")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--alpha", training.alpha,
                 "Prior of a document's topics: each counts as occurring this often; default: 50 / topics")
      ->check(number_above_0());
  app.add_option("--beta", training.beta, "Prior of a topic's words: each counts as occurring this often")
      ->check(number_above_0())
      ->capture_default_str();
  app.add_option("--save-model", options.save_model,
                 "Write the topics to PREFIX-counts.npy, PREFIX-priors.npy and PREFIX-vocabulary.txt")
      ->type_name("PREFIX")
      ->check(file_name());
}

void add_inference_options(CLI::App& app, TopicModelOptions& options) {
  CLI::Option* const model =
      app.add_option("--model", options.model,
                     "Instead of training: infer the topics of the documents with the topics of --save-model")
          ->type_name("PREFIX")
          ->check(file_name());
  CLI::Option* const file =
      app.add_option("--document-topics", options.document_topics,
                     "File to write: a line for each document, its number and the share of each topic")
          ->check(file_name())
          ->needs(model);
  model->needs(file);
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
                 "Write the topics to this file: number, share of all tokens, coherence, most frequent words")
      ->check(file_name());
  app.add_option("--top-words", options.top_words, "Words of each topic that are shown and written")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--coherence-words", options.coherence_words,
                 "Words of each topic whose coherence is computed: their NPMI in the documents; 0: none")
      ->check(CLI::Range(0, 1000) & CLI::Validator(
                                        [](std::string& text) {
                                          return text == "1"
                                                     ? "1 word has no coherence, expected 0 or 2 and more"
                                                     : std::string();
                                        },
                                        ""))
      ->capture_default_str();
  add_result_files(app, options.results);
}

}  // namespace

void add_options(CLI::App& app, TopicModelOptions& options) {
  const auto conditions = std::make_shared<OptionConditions>();
  add_data_options(app, options, *conditions);
  add_inference_options(app, options);
  add_model_options(app, options);
  add_training_options(app, options, *conditions);
  add_result_options(app, options);
  add_settings(app, options.settings);
  for (const char* const name : kTrainingOptions) {
    conditions->add(app.get_option(name), "a training, without --model",
                    [&options] { return options.model.empty(); });
  }
  app.final_callback([conditions, &options] {
    choose_settings(options.settings, options.technique);
    conditions->check();
  });
}

}  // namespace lapse::apps
