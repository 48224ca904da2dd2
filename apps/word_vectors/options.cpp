#include "apps/word_vectors/options.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "apps/common/consistency_option.hpp"
#include "apps/common/option_conditions.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/technique_option.hpp"
#include "apps/common/text_form.hpp"

namespace lapse::apps {

namespace {

void add_text_options(CLI::App& app, WordVectorsOptions& options) {
  CLI::Option* const files =
      app.add_option("text", options.corpus.files,
                     "Text files: words separated by blanks, a sentence on each line; plain or packed by "
                     "gzip, xz or zstd")
          ->check(file_name());
  CLI::Option* const evaluate_only =
      app.add_option("--evaluate-only", options.evaluate_only,
                     "Instead of training: evaluate the vectors of this file, text or binary")
          ->check(file_name());
  files->excludes(evaluate_only);
  for (CLI::Option* const option : add_text_form(app, options.corpus.form)) option->excludes(evaluate_only);
  app.add_option("--min-count", options.corpus.min_count, "Words that occur less often are left out")
      ->check(integer_from_0())
      ->capture_default_str();
}

void add_model_options(CLI::App& app, TrainingOptions& training, OptionConditions& conditions) {
  WindowOptions& windows = training.runner.windows;
  app.add_option("--dim", training.dimensions, "Dimensions of the vectors")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--window", windows.window,
                 "Words to each side of a word, at most: for each word a number from 1 to this is drawn")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--negatives", windows.negatives, "Negatives of each word")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  const CLI::Option* const separate = app.add_flag_callback(
      "--separate-negatives", [&windows] { windows.shared_negatives = false; },
      "Each context of a word has negatives of its own: several times as many accesses");
  conditions.add(separate, "--negatives above 0", [&windows] { return windows.negatives != 0; });
  const CLI::Option* const uses =
      app.add_option(
             "--negative-uses", windows.negative_uses,
             "How often a negative that is drawn for a batch is used on average; 1: each word draws its own")
          ->check(CLI::Range(1, 1000000))
          ->capture_default_str();
  conditions.add(uses, "--negatives above 0", [&windows] { return windows.negatives != 0; });
  const CLI::Option* const exponent =
      app.add_option("--noise-exponent", windows.noise_exponent,
                     "Negatives are drawn in proportion to the words' counts to this power")
          ->check(any_number())
          ->capture_default_str();
  conditions.add(exponent, "--negatives above 0", [&windows] { return windows.negatives != 0; });
  app.add_option("--subsample", windows.subsample,
                 "Occurrences of words with a larger share of all occurrences are dropped at random; 0: none")
      ->check(number_from_0())
      ->capture_default_str();
}

void add_training_options(CLI::App& app, WordVectorsOptions& options) {
  RunnerOptions& runner = options.training.runner;
  add_names(app, "--optimiser", runner.optimiser,
            std::map<std::string, Optimiser>{{"sgd", Optimiser::sgd}, {"adagrad", Optimiser::adagrad}},
            "sgd: workers push their steps; adagrad: workers push gradients");
  app.add_option("--rate", runner.rate,
                 "Learning rate; with sgd at the start, it falls in a line to a ten-thousandth")
      ->check(number_above_0())
      ->capture_default_str();
  app.add_option("--epochs", runner.epochs, "Epochs")->check(integer_from_0())->capture_default_str();
  app.add_option("--seed", runner.seed, "Of initial vectors, subsampling, windows, negatives and shuffling")
      ->check(integer_from_0())
      ->capture_default_str();
}

void add_execution_options(CLI::App& app, WordVectorsOptions& options, OptionConditions& conditions) {
  RunnerOptions& runner = options.training.runner;
  app.add_option("--workers", options.training.workers,
                 "Workers on every rank, or a list: workers of each rank (2,0,1); at most 4096")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--batch", runner.windows.batch,
                 "Words whose windows are trained together, on vectors that are pulled once")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--lookahead", runner.lookahead,
                 "Batches that are made, and announced as intents, ahead of their use")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--shuffle", runner.shuffle,
                 "Sentences in the buffer of each worker that shuffles them; 0: in the order of the text")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  add_technique(app, options.technique);
  add_checkpoint_options(app, options.checkpoints, conditions);
  app.add_flag(
      "--deterministic", runner.deterministic,
      "The same result in every run with these numbers of ranks and workers, bit for bit, also when it "
      "is stopped and resumed: workers push one after the other");
  conditions.add(add_consistency(app, runner.consistency, "a batch"),
                 "trainings that are not --deterministic", [&runner] { return !runner.deterministic; });
  conditions.add(add_sampling(app, options.training.sampling),
                 "--negatives above 0, and trainings that are not --deterministic",
                 [&runner] { return runner.windows.negatives != 0 && !runner.deterministic; });
}

void add_result_options(CLI::App& app, WordVectorsOptions& options, OptionConditions& conditions) {
  app.add_option("--analogies", options.evaluation.analogies,
                 "Evaluate on analogies: lines `: section`, and lines of four words")
      ->check(file_name());
  app.add_option("--word-similarity", options.evaluation.word_similarity,
                 "Evaluate on pairs of words with scores: lines `word word score`")
      ->check(file_name());
  app.add_option(
         "--initial", options.initial,
         "Start from a file of vectors, of word2vec or GloVe, or from the description (.json) of a trained "
         "model: known words get its vectors, others are new")
      ->check(file_name())
      ->excludes("--evaluate-only");
  app.add_option("--output", options.output, "Write the vectors to this file")->check(file_name());
  const CLI::Option* const format = add_names(
      app, "--output-format", options.output_format,
      std::map<std::string, VectorFormat>{{"text", VectorFormat::text}, {"binary", VectorFormat::binary}},
      "The format of word2vec, as text or binary");
  conditions.add(format, "--output", [&options] { return !options.output.empty(); });
  add_result_files(app, options.results);
  app.add_option("--progress", options.progress_seconds,
                 "Seconds between two lines of progress within an epoch; 0: none")
      ->check(number_from_0())
      ->capture_default_str();
}

// Options for training have no effect with --evaluate-only.
void check_together(const CLI::App& app, const WordVectorsOptions& options) {
  const bool evaluates = !options.evaluation.analogies.empty() || !options.evaluation.word_similarity.empty();
  if (options.evaluate_only.empty()) {
    if (options.corpus.files.empty())
      throw CLI::ValidationError("text", "a text file is expected, or --evaluate-only");
    return;
  }
  if (!evaluates)
    throw CLI::ValidationError("--evaluate-only applies only with --analogies or --word-similarity");
  for (const CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_name();
    const bool applies = name == "--evaluate-only" || name == "--analogies" || name == "--word-similarity" ||
                         name == "--workers" || name == "--summary-json" || name == "--report" ||
                         name == "--set";
    if (option->count() != 0 && !applies)
      throw CLI::ValidationError(name + " applies only without --evaluate-only");
  }
}

}  // namespace

void add_options(CLI::App& app, WordVectorsOptions& options) {
  const auto conditions = std::make_shared<OptionConditions>();
  add_text_options(app, options);
  add_model_options(app, options.training, *conditions);
  add_training_options(app, options);
  add_execution_options(app, options, *conditions);
  add_result_options(app, options, *conditions);
  add_settings(app, options.settings);
  app.final_callback([&app, conditions, &options] {
    choose_settings(options.settings, options.technique, &options.training.sampling);
    conditions->check();
    check_together(app, options);
  });
}

}  // namespace lapse::apps
