#include "apps/knowledge_graph_embeddings/options.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/option_conditions.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/technique_option.hpp"

namespace lapse::apps {

namespace {

constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint32_t>::max();

void add_data_options(CLI::App& app, DataOptions& data) {
  CLI::Option* const file = app.add_option(
      "train", data.train_file,
      "Triple file: lines `subject relation object`, separated by tabs or blanks; plain or packed by gzip, "
      "xz or zstd; -: standard input");
  file->check(file_name());
  CLI::Option* const generate =
      app.add_option_function<std::vector<std::uint64_t>>(
             "--generate",
             [&data](const std::vector<std::uint64_t>& numbers) {
               if (numbers[0] == 0 || numbers[1] == 0 || numbers[2] == 0 || numbers[0] > kMaxId ||
                   numbers[1] > kMaxId)
                 throw CLI::ValidationError("--generate", "numbers from 1 to 4294967295 are expected");
               data.random = {static_cast<std::uint32_t>(numbers[0]), static_cast<std::uint32_t>(numbers[1]),
                              numbers[2]};
             },
             "Instead of a file: a graph of uniformly random triples; ENTITIES,RELATIONS,TRIPLES (default: "
             "10000,100,100000)")
          ->check(integer_from_0())
          ->delimiter(',')
          ->expected(3)
          ->type_name("");
  file->excludes(generate);
  app.add_option("--valid", data.valid_file, "Triple file to evaluate on")->check(file_name())->needs(file);
  app.add_option("--test", data.test_file, "Triple file to evaluate on")->check(file_name())->needs(file);
}

void add_model_options(CLI::App& app, TrainingOptions& training, OptionConditions& conditions) {
  add_names(app, "--model", training.model.kind,
            std::map<std::string, ModelKind>{{"complex", ModelKind::complex},
                                             {"distmult", ModelKind::distmult},
                                             {"rescal", ModelKind::rescal},
                                             {"transe", ModelKind::transe}},
            "ComplEx, DistMult, RESCAL or TransE");
  app.add_option("--dim", training.model.dimensions,
                 "Dimensions: complex numbers for ComplEx, real numbers for the others")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  const CLI::Option* const margin =
      app.add_option("--margin", training.model.margin, "TransE: score of a triple that fits exactly")
          ->check(any_number())
          ->capture_default_str();
  conditions.add(margin, "--model transe", [&training] { return training.model.kind == ModelKind::transe; });
  app.add_option("--initial-scale", training.initial_scale, "Standard deviation of the initial embeddings")
      ->check(number_from_0())
      ->capture_default_str();
}

void add_training_options(CLI::App& app, KnowledgeGraphOptions& options, OptionConditions& conditions) {
  TrainingOptions& training = options.training;
  app.add_option("--negatives", training.runner.negatives.per_side,
                 "Negatives of each triple for its subject, and as many for its object")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  const CLI::Option* const shared =
      app.add_flag("--shared-negatives", training.runner.negatives.shared,
                   "The triples of a batch share their negatives: fewer accesses, less variety");
  conditions.add(shared, "--negatives above 0", [&training] {
    return !training.runner.negatives.shared || training.runner.negatives.per_side != 0;
  });
  app.add_option("--l2", training.runner.l2, "Regularization of subject, relation and object of each triple")
      ->check(number_from_0())
      ->capture_default_str();
  app.add_option("--rate", training.optimiser.learning_rate, "Learning rate of Adagrad")
      ->check(number_above_0())
      ->capture_default_str();
  app.add_option("--initial-accumulator", training.optimiser.initial_accumulator,
                 "Sum of squared gradients that Adagrad starts with")
      ->check(number_from_0())
      ->capture_default_str();
  app.add_option("--epsilon", training.optimiser.epsilon, "Adagrad adds it to the root of that sum")
      ->check(number_from_0())
      ->capture_default_str();
  app.add_option("--epochs", training.epochs, "Epochs")->check(integer_from_0())->capture_default_str();
  const CLI::Option* const evaluate_every =
      app.add_option("--evaluate-every,--eval-every", training.evaluate_every,
                     "With --valid or --test: epochs from one evaluation to the next; 0: never")
          ->check(integer_from_0())
          ->capture_default_str();
  conditions.add(evaluate_every, "--valid or --test", [&options] {
    return options.training.evaluate_every == 0 || !options.data.valid_file.empty() ||
           !options.data.test_file.empty();
  });
}

// Returns the option --mode.
const CLI::Option* add_execution_options(CLI::App& app, TrainingOptions& training,
                                         OptionConditions& conditions) {
  app.add_option("--workers", training.workers,
                 "Workers on every rank, or a list: workers of each rank (2,0,1); at most 4096")
      ->delimiter(',')
      ->capture_default_str();
  const CLI::Option* const mode = add_names(
      app, "--mode", training.runner.mode,
      std::map<std::string, TrainingMode>{{"classic", TrainingMode::classic},
                                          {"clustering", TrainingMode::clustering},
                                          {"latency_hiding", TrainingMode::latency_hiding},
                                          {"combined", TrainingMode::combined},
                                          {"intent", TrainingMode::intent}},
      "classic: triples dealt out at random, nothing is localized; clustering: the triples of a relation "
      "on one rank, which has its parameters; latency_hiding: entities are localized ahead of use; "
      "combined: both; intent: triples dealt out at random, workers signal intents (default with "
      "--technique)");
  app.add_option("--batch", training.runner.batch, "Triples whose embeddings are pulled and updated together")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  const CLI::Option* const lookahead =
      app.add_option_function<std::size_t>(
             "--lookahead", [&training](std::size_t batches) { training.runner.lookahead = batches; },
             "Modes latency_hiding, combined, intent: batches from announcing embeddings to their use "
             "(default: 4, with intents 200)")
          ->check(CLI::Range(0, 1000000));
  conditions.add(lookahead, "--mode latency_hiding, combined or intent", [&training] {
    return localizes_entities(training.runner.mode) || training.runner.mode == TrainingMode::intent;
  });
  app.add_option("--prefetch", training.runner.prefetch,
                 "Batches from the start of reading embeddings to their use")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  return mode;
}

}  // namespace

void add_options(CLI::App& app, KnowledgeGraphOptions& options) {
  add_data_options(app, options.data);
  const auto conditions = std::make_shared<OptionConditions>();
  add_model_options(app, options.training, *conditions);
  add_training_options(app, options, *conditions);
  const CLI::Option* const mode = add_execution_options(app, options.training, *conditions);
  const CLI::Option* const technique = add_technique(app, options.technique);
  app.final_callback([conditions, mode, technique, &options] {
    choose_mode(*mode, *technique, TrainingMode::intent, options.training.runner.mode);
    conditions->check();
  });
  app.add_option_function<std::uint64_t>(
         "--seed", [&options](std::uint64_t seed) { options.data.seed = options.training.seed = seed; },
         "Of the random graph, initial embeddings, order of the triples and negatives")
      ->check(integer_from_0())
      ->default_str("1");
  app.add_option("--output-prefix", options.output_prefix,
                 "Write the embeddings to PREFIX-{entities,relations}.npy, the names of their rows to "
                 "PREFIX-{entities,relations}.txt")
      ->check(file_name());
  app.add_option("--summary-json", options.summary_json, "Write the results to this file")
      ->check(file_name());
}

}  // namespace lapse::apps
