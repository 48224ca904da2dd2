#include "apps/linear_model/options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>

#include "apps/common/consistency_option.hpp"
#include "apps/common/option_conditions.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/technique_option.hpp"

namespace lapse::apps {

namespace {

// Options that have no effect when labels are predicted.
constexpr std::array kTrainingOptions{"--test",       "--folds",          "--costs",      "--loss",
                                      "--penalty",    "--cost",           "--bias",       "--solver",
                                      "--epochs",     "--tolerance",      "--step-scale", "--seed",
                                      "--save-model", "--checkpoint-dir", "--initial"};

void add_data_options(CLI::App& app, LinearModelOptions& options) {
  app.add_option(
         "samples", options.samples.file,
         "File of samples in the format of LibSVM, label feature:value ..., with two labels; plain or "
         "packed by gzip, xz or zstd")
      ->check(file_name());
  app.add_option("--test", options.test,
                 "File of samples that are not trained: they are predicted after "
                 "every epoch")
      ->check(file_name());
  const std::map<std::string, io::FirstFeature> names{
      {"found", io::FirstFeature::found}, {"0", io::FirstFeature::zero}, {"1", io::FirstFeature::one}};
  add_names(app, "--first-feature", options.samples.first_feature, names,
            "The number of the first feature in files; found: 0 if the file has a feature 0");
}

void add_problem_options(CLI::App& app, LinearModelOptions& options, OptionConditions& conditions) {
  LinearTrainingOptions& training = options.training;
  add_names(app, "--loss", training.loss,
            {{"logistic", Loss::logistic}, {"hinge", Loss::hinge}, {"squared-hinge", Loss::squared_hinge}},
            "Loss of a sample: logistic regression, or a support vector machine");
  add_names(app, "--penalty", options.penalty,
            {{"l2", PenaltyKind::l2}, {"l1", PenaltyKind::l1}, {"elastic-net", PenaltyKind::elastic_net}},
            "Penalty of the weights w: half of their squared norm, their L1 norm, or a mixture");
  conditions.add(app.add_option("--l1-ratio", options.l1_ratio, "Share of the L1 norm in the mixture")
                     ->check(number_in(0, 1))
                     ->capture_default_str(),
                 "--penalty elastic-net", [&options] { return options.penalty == PenaltyKind::elastic_net; });
  app.add_option("--cost", training.cost, "Factor of the losses' sum; the penalty has none: C of liblinear")
      ->check(number_above_0())
      ->capture_default_str();
  CLI::Option* const folds =
      app.add_option(
             "--folds", options.validation.folds,
             "Cross-validation: before the training, models are trained without a part of the samples, "
             "which they predict; this many parts, each once")
          ->check(CLI::Range(2, 1000));
  app.add_option(
         "--costs", options.validation.costs,
         "Costs to compare by cross-validation, a list; the training takes the best (default: --cost)")
      ->delimiter(',')
      ->check(number_above_0())
      ->needs(folds);
  app.add_option("--bias", options.samples.bias, "Adds a feature of this value to every sample; 0: none")
      ->check(number_from_0())
      ->capture_default_str();
}

void add_solver_options(CLI::App& app, LinearModelOptions& options, OptionConditions& conditions) {
  LinearTrainingOptions& training = options.training;
  app.add_option_function<std::string>(
         "--solver",
         [&options](const std::string& name) {
           for (const Solver solver : kSolvers)
             if (to_string(solver) == name) options.solver = solver;
         },
         "How the objective is minimized (default: the solver that suits loss and penalty)")
      ->check(CLI::IsMember([] {
        std::vector<std::string> names;
        names.reserve(kSolvers.size());
        for (const Solver solver : kSolvers) names.emplace_back(to_string(solver));
        return names;
      }()))
      ->type_name("");
  const auto is_sgd = [&options] { return options.solver == Solver::sgd; };
  conditions.add(
      app.add_option("--batch", training.solver.batch, "Samples of a step, of all workers together")
          ->check(CLI::Range(1, 1000000000))
          ->capture_default_str(),
      "--solver sgd", is_sgd);
  conditions.add(app.add_option("--batch-growth", training.solver.batch_growth,
                                "Factor by which the batch grows from epoch to epoch, up to a tenth of the "
                                "samples; 1: none")
                     ->check(number_in(1, 1e9))
                     ->capture_default_str(),
                 "--solver sgd", is_sgd);
  app.add_option("--epochs", training.epochs,
                 "Epochs at most: each some passes over the samples (default: 1000; of sgd 20)")
      ->check(integer_from_0());
  app.add_option("--tolerance", training.tolerance,
                 "The training ends when its error is at most this: the relative duality gap of solvers with "
                 "dual variables, else the norm of the gradient relative to that of weights 0 (default: 1e-3 "
                 "for the first, 1e-4 for the second)")
      ->check(number_from_0());
  app.add_option("--step-scale", training.solver.step_scale,
                 "Factor of the step size that the solver chooses")
      ->check(number_above_0())
      ->capture_default_str();
  app.add_option("--seed", training.solver.seed, "Of the order of the samples")
      ->check(integer_from_0())
      ->capture_default_str();
  app.add_option("--workers", training.workers,
                 "Workers on every rank, or a list: workers of each rank (2,0,1); at most 4096")
      ->delimiter(',')
      ->capture_default_str();
  add_technique(app, options.technique);
  conditions.add(add_consistency(app, training.consistency, "a step"), "--solver sgd", is_sgd);
  add_checkpoint_options(app, options.checkpoints, conditions, WorkerClocks::none);
}

void add_result_options(CLI::App& app, LinearModelOptions& options, OptionConditions& conditions) {
  app.add_option("--save-model", options.save_model,
                 "Write the model to this file, in the format of liblinear")
      ->check(file_name());
  app.add_option("--initial", options.initial,
                 "Start from this model, of --save-model or liblinear: features that it has get its weights")
      ->check(file_name());
  CLI::Option* const predict =
      app.add_option("--predict", options.prediction.samples,
                     "Instead of training: predict the labels of the samples in this file")
          ->check(file_name());
  CLI::Option* const model = app.add_option("--model", options.model, "Model of --save-model or liblinear")
                                 ->check(file_name())
                                 ->needs(predict);
  CLI::Option* const output =
      app.add_option("--output", options.prediction.output,
                     "File to write: a line for each sample, its predicted label, x . w, and of a logistic "
                     "model the probability of the larger label")
          ->check(file_name())
          ->needs(predict);
  predict->needs(model)->needs(output);
  add_result_files(app, options.results);
  const auto trains = [&options] { return options.model.empty(); };
  for (const char* const name : kTrainingOptions)
    conditions.add(app.get_option(name), "a training, without --predict", trains);
  conditions.add(app.get_option("samples"), "a training, without --predict", trains);
}

Penalty penalty_of(const LinearModelOptions& options) {
  switch (options.penalty) {
    case PenaltyKind::l1:
      return {.l1 = 1, .l2 = 0};
    case PenaltyKind::l2:
      return {.l1 = 0, .l2 = 1};
    case PenaltyKind::elastic_net:
      break;
  }
  return {.l1 = options.l1_ratio, .l2 = 1 - options.l1_ratio};
}

}  // namespace

void add_options(CLI::App& app, LinearModelOptions& options) {
  const auto conditions = std::make_shared<OptionConditions>();
  add_data_options(app, options);
  add_problem_options(app, options, *conditions);
  add_solver_options(app, options, *conditions);
  add_result_options(app, options, *conditions);
  add_settings(app, options.settings);
  app.final_callback([conditions, &options] {
    choose_settings(options.settings, options.technique);
    conditions->check();
    if (options.samples.file.empty() && options.model.empty())
      throw CLI::ValidationError("samples", "no file of samples to train, and no --predict");
    if (options.validation.folds > 0 && !options.checkpoints.folder.empty()) {
      throw CLI::ValidationError("--folds",
                                 "a resumed training might find another best cost: validate first, and then "
                                 "train with --checkpoint-dir and --cost");
    }
    options.training.penalty = penalty_of(options);
    options.training.solver.solver =
        options.solver.value_or(default_solver(options.training.loss, options.training.penalty));
    options.prediction.first_feature = options.samples.first_feature;
  });
}

}  // namespace lapse::apps
