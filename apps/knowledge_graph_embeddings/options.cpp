#include "apps/knowledge_graph_embeddings/options.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/config_file.hpp"
#include "apps/common/consistency_option.hpp"
#include "apps/common/option_conditions.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/table_options.hpp"
#include "apps/common/technique_option.hpp"

namespace lapse::apps {

namespace {

constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint32_t>::max();

void add_data_options(CLI::App& app, DataOptions& data) {
  CLI::Option* const file =
      app.add_option("train", data.train_file,
                     "Triple file: lines `subject relation object`, separated by tabs or blanks, or "
                     "N-Triples, or a table with "
                     "--columns; plain or packed by gzip, xz or zstd; -: standard input");
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
  add_columns(app, "--columns", data.format.columns, {"SUBJECT", "RELATION", "OBJECT"}, 3)->needs(file);
  add_separator(app, data.format.separator)->needs(file);
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
  app.add_flag("--reciprocal", training.reciprocal,
               "Subjects are asked for as the objects of inverse relations with embeddings of their own");
  app.add_option("--initial-scale", training.initial_scale, "Standard deviation of the initial embeddings")
      ->check(number_from_0())
      ->capture_default_str();
}

void add_negatives(CLI::App& app, TrainingOptions& training, OptionConditions& conditions) {
  NegativeOptions& negatives = training.runner.negatives;
  const CLI::Option* const number =
      app.add_option_function<std::string>(
             "--negatives",
             [&negatives](const std::string& text) {
               if (text == "all") {
                 negatives.sharing = NegativeSharing::all;
                 return;
               }
               if (!CLI::detail::lexical_cast(text, negatives.per_side) ||
                   !CLI::Range(0, 1000000)(text).empty())
                 throw CLI::ValidationError("--negatives",
                                            text + ", expected `all` or a number from 0 to 1000000");
             },
             "Negatives of each triple for its subject, and as many for its object; all: every entity")
          ->default_str("10");
  conditions.add(number, "--mode classic, clustering or intent when all entities are negatives", [&training] {
    return training.runner.negatives.sharing != NegativeSharing::all ||
           !localizes_entities(training.runner.mode);
  });
  const CLI::Option* const shared = app.add_flag_callback(
      "--shared-negatives",
      [&negatives] {
        if (negatives.sharing == NegativeSharing::all)
          throw CLI::ValidationError("--shared-negatives", "applies only with a number of --negatives");
        negatives.sharing = NegativeSharing::batch;
      },
      "The triples of a batch share their negatives: fewer accesses, less variety");
  conditions.add(shared, "--negatives above 0", [&negatives] { return negatives.per_side != 0; });
}

void add_regularization(CLI::App& app, LossOptions& loss) {
  app.add_option("--l2", loss.l2, "Squared regularization of subject, relation and object of each triple")
      ->check(number_from_0())
      ->capture_default_str();
  app.add_option("--n3", loss.n3, "Their cubic regularization (nuclear 3-norm)")
      ->check(number_from_0())
      ->capture_default_str();
  app.add_option("--entity-dropout", loss.dropout.entity,
                 "Share of an entity's numbers that a query leaves out at random")
      ->check(number_from_0_below_1())
      ->capture_default_str();
  app.add_option("--relation-dropout", loss.dropout.relation, "Share of a relation's numbers, likewise")
      ->check(number_from_0_below_1())
      ->capture_default_str();
}

void add_optimiser(CLI::App& app, OptimiserOptions& optimiser, OptionConditions& conditions) {
  add_names(app, "--optimiser", optimiser.kind,
            std::map<std::string, OptimiserKind>{{"adagrad", OptimiserKind::adagrad},
                                                 {"adam", OptimiserKind::adam}},
            "Adagrad or Adam");
  app.add_option("--rate", optimiser.learning_rate, "Learning rate")
      ->check(number_above_0())
      ->capture_default_str();
  const CLI::Option* const accumulator =
      app.add_option("--initial-accumulator", optimiser.initial_accumulator,
                     "Sum of squared gradients that Adagrad starts with")
          ->check(number_from_0())
          ->capture_default_str();
  conditions.add(accumulator, "--optimiser adagrad",
                 [&optimiser] { return optimiser.kind == OptimiserKind::adagrad; });
  app.add_option_function<double>(
         "--epsilon", [&optimiser](double epsilon) { optimiser.epsilon = epsilon; },
         "The optimiser adds it to the root of squared gradients (default: 1e-10, Adam 1e-8)")
      ->check(number_from_0());
}

void add_schedule(CLI::App& app, KnowledgeGraphOptions& options, OptionConditions& conditions) {
  ScheduleOptions& schedule = options.training.schedule;
  const auto evaluates = [&options] {
    return !options.data.valid_file.empty() && options.training.evaluate_every != 0;
  };
  app.add_option("--rate-decay", schedule.rate_decay, "Factor of the learning rate after every epoch")
      ->check(number_above_0_up_to_1())
      ->capture_default_str();
  const CLI::Option* const plateau_decay =
      app.add_option("--plateau-decay", schedule.plateau_decay,
                     "Factor of the learning rate after every evaluation that shows no better valid MRR")
          ->check(number_above_0_up_to_1())
          ->capture_default_str();
  conditions.add(plateau_decay, "--valid, and --evaluate-every above 0", evaluates);
  const CLI::Option* const patience =
      app.add_option("--patience", schedule.patience,
                     "Evaluations in a row without a better valid MRR that end the training; the best "
                     "embeddings are what is written and tested; 0: train all epochs, keep the last")
          ->check(integer_from_0())
          ->capture_default_str();
  conditions.add(patience, "--valid, and --evaluate-every above 0",
                 [&schedule, evaluates] { return schedule.patience == 0 || evaluates(); });
}

void add_training_options(CLI::App& app, KnowledgeGraphOptions& options, OptionConditions& conditions) {
  TrainingOptions& training = options.training;
  const CLI::Option* const loss = add_names(
      app, "--loss", training.runner.loss.kind,
      std::map<std::string, LossKind>{{"logistic", LossKind::logistic}, {"softmax", LossKind::softmax}},
      "logistic: each triple and each negative by itself; softmax: a triple among its negatives");
  conditions.add(loss, "--negatives above 0 if it is softmax", [&training] { return training.has_loss(); });
  add_negatives(app, training, conditions);
  add_regularization(app, training.runner.loss);
  add_optimiser(app, training.optimiser, conditions);
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
  add_schedule(app, options, conditions);
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
             "(default: 4; with intents 200, or 16 with --negatives all)")
          ->check(CLI::Range(0, 1000000));
  conditions.add(lookahead, "--mode latency_hiding, combined or intent", [&training] {
    return localizes_entities(training.runner.mode) || training.runner.mode == TrainingMode::intent;
  });
  conditions.add(add_consistency(app, training.runner.consistency, "a batch"),
                 "--mode intent, and trainings that are not --deterministic", [&training] {
                   return training.runner.mode == TrainingMode::intent && !training.runner.deterministic;
                 });
  const CLI::Option* const prefetch =
      app.add_option("--prefetch", training.runner.prefetch,
                     "Batches from the start of reading embeddings to their use")
          ->check(CLI::Range(0, 1000000))
          ->capture_default_str();
  conditions.add(prefetch, "trainings that are not --deterministic",
                 [&training] { return !training.runner.deterministic; });
  app.add_flag("--deterministic", training.runner.deterministic,
               "The same result in every run with these ranks and workers, bit for bit, also when it is "
               "stopped and resumed: workers push one after the other");
  return mode;
}

}  // namespace

void add_options(CLI::App& app, KnowledgeGraphOptions& options) {
  add_config(app);
  add_data_options(app, options.data);
  const auto conditions = std::make_shared<OptionConditions>();
  add_model_options(app, options.training, *conditions);
  add_training_options(app, options, *conditions);
  const CLI::Option* const mode = add_execution_options(app, options.training, *conditions);
  const CLI::Option* const technique = add_technique(app, options.technique);
  conditions->add(add_sampling(app, options.training.sampling),
                  "--mode intent, negatives that are drawn, and trainings that are not --deterministic",
                  [&options] {
                    const RunnerOptions& runner = options.training.runner;
                    return runner.mode == TrainingMode::intent && !runner.deterministic &&
                           runner.negatives.sharing != NegativeSharing::all;
                  });
  add_checkpoint_options(app, options.checkpoints, *conditions);
  add_settings(app, options.settings);
  app.final_callback([conditions, mode, technique, &options] {
    choose_settings(options.settings, options.technique, &options.training.sampling);
    choose_mode(*mode, *technique, options.technique, TrainingMode::intent, options.training.runner.mode);
    conditions->check();
  });
  app.add_option_function<std::uint64_t>(
         "--seed", [&options](std::uint64_t seed) { options.data.seed = options.training.seed = seed; },
         "Of the random graph, initial embeddings, order of the triples, negatives and dropout")
      ->check(integer_from_0())
      ->default_str("1");
  app.add_option("--initial", options.initial,
                 "Start from a trained model: the prefix of its files; known entities and relations get its "
                 "embeddings, others are new")
      ->check(file_name())
      ->needs("train");
  app.add_flag("--check", options.check,
               "Only print how the data is understood: columns, counts, the first triples");
  app.add_option("--output-prefix", options.output_prefix,
                 "Write the embeddings to PREFIX-{entities,relations}.npy, the names of their rows to "
                 "PREFIX-{entities,relations}.txt, and a description to PREFIX.json, for lapse-answers")
      ->check(file_name());
  add_result_files(app, options.results);
}

}  // namespace lapse::apps
