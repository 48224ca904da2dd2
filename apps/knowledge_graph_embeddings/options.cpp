#include "apps/knowledge_graph_embeddings/options.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <vector>

#include "apps/common/option_values.hpp"

namespace lapse::apps {

namespace {

constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint32_t>::max();

void add_data_options(CLI::App& app, DataOptions& data) {
  CLI::Option* const file = app.add_option("train", data.train_file,
                                           "Triple file: lines `subject relation object`, separated by tabs "
                                           "or blanks; plain or packed by gzip, xz "
                                           "or zstd; -: standard input");
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
          ->delimiter(',')
          ->expected(3)
          ->type_name("");
  file->excludes(generate);
  app.add_option("--valid", data.valid_file, "Triple file to evaluate on")->needs(file);
  app.add_option("--test", data.test_file, "Triple file to evaluate on")->needs(file);
}

void add_model_options(CLI::App& app, TrainingOptions& training) {
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
  app.add_option("--margin", training.model.margin, "TransE: score of a triple that fits exactly")
      ->capture_default_str();
  app.add_option("--initial-scale", training.initial_scale, "Standard deviation of the initial embeddings")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_training_options(CLI::App& app, TrainingOptions& training) {
  app.add_option("--negatives", training.runner.negatives.per_side,
                 "Negatives of each triple for its subject, and as many for its object")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--shared-negatives", training.runner.negatives.shared,
               "The triples of a batch share their negatives: fewer accesses, less variety");
  app.add_option("--l2", training.runner.l2, "Regularization of subject, relation and object of each triple")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--rate", training.optimiser.learning_rate, "Learning rate of Adagrad")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--initial-accumulator", training.optimiser.initial_accumulator,
                 "Sum of squared gradients that Adagrad starts with")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--epsilon", training.optimiser.epsilon, "Adagrad adds it to the root of that sum")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--epochs", training.epochs, "Epochs")->capture_default_str();
  app.add_option("--evaluate-every,--eval-every", training.evaluate_every,
                 "Epochs from one evaluation to the next; 0: never")
      ->capture_default_str();
}

void add_execution_options(CLI::App& app, TrainingOptions& training) {
  app.add_option("--workers", training.workers,
                 "Workers on every rank, or a list: workers of each rank (2,0,1)")
      ->delimiter(',')
      ->capture_default_str();
  add_names(
      app, "--mode", training.runner.mode,
      std::map<std::string, TrainingMode>{{"classic", TrainingMode::classic},
                                          {"clustering", TrainingMode::clustering},
                                          {"latency_hiding", TrainingMode::latency_hiding},
                                          {"combined", TrainingMode::combined}},
      "classic: triples dealt out at random, nothing is localized; clustering: the triples of a relation "
      "on one rank, which has its parameters; latency_hiding: entities are localized ahead of use; "
      "combined: both");
  app.add_option("--batch", training.runner.batch, "Triples whose embeddings are pulled and updated together")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--lookahead", training.runner.lookahead,
                 "Modes latency_hiding and combined: batches from localizing entities to their use")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--prefetch", training.runner.prefetch,
                 "Batches from the start of reading embeddings to their use")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
}

}  // namespace

void add_options(CLI::App& app, KnowledgeGraphOptions& options) {
  add_data_options(app, options.data);
  add_model_options(app, options.training);
  add_training_options(app, options.training);
  add_execution_options(app, options.training);
  app.add_option_function<std::uint64_t>(
         "--seed", [&options](std::uint64_t seed) { options.data.seed = options.training.seed = seed; },
         "Of the random graph, initial embeddings, order of the triples and negatives")
      ->default_str("1");
  app.add_option("--output-prefix", options.output_prefix,
                 "Write the embeddings to PREFIX-{entities,relations}.npy, the names of their rows to "
                 "PREFIX-{entities,relations}.txt");
  app.add_option("--summary-json", options.summary_json, "Write the results to this file");
}

}  // namespace lapse::apps
