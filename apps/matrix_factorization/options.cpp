#include "apps/matrix_factorization/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "apps/common/consistency_option.hpp"
#include "apps/common/option_conditions.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/table_options.hpp"
#include "apps/common/technique_option.hpp"
#include "apps/matrix_factorization/ranking/ranking_options.hpp"

namespace lapse::apps {

namespace {

template <class Integer>
bool parse_integer(const std::string& text, Integer& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

// ROWSxCOLUMNSxCELLS
io::ZipfMatrixOptions parse_shape(io::ZipfMatrixOptions options, const std::string& text) {
  const std::vector<std::string> parts = CLI::detail::split(text, 'x');
  const bool valid = parts.size() == 3 && parse_integer(parts[0], options.rows) &&
                     parse_integer(parts[1], options.columns) && parse_integer(parts[2], options.cells) &&
                     options.rows > 0 && options.columns > 0;
  if (!valid)
    throw CLI::ValidationError("--zipf", "'" + text + "' is not ROWSxCOLUMNSxCELLS, as 10000x1000x1000000");
  return options;
}

void add_data_options(CLI::App& app, DataOptions& data) {
  CLI::Option* const file = app.add_option(
      "ratings", data.train_file,
      "Rating file: lines `user item rating`, or other columns that a header names; plain or packed by gzip, "
      "xz or zstd; -: standard input. Users and items are integers from 0 to 2^64 - 1, or names");
  file->check(file_name());
  CLI::Option* const zipf = app.add_option_function<std::string>(
      "--zipf", [&data](const std::string& text) { data.zipf = parse_shape(data.zipf, text); },
      "Instead of a file: generate a matrix with Zipf-distributed rows and columns, ROWSxCOLUMNSxCELLS");
  file->excludes(zipf);
  app.add_option("--zipf-exponent", data.zipf.exponent, "Exponent of the Zipf distributions")
      ->excludes(file)
      ->check(number_above_0())
      ->capture_default_str();
  CLI::Option* const test = app.add_option("--test", data.test_file, "Rating file to test on")
                                ->check(file_name())
                                ->needs(file)
                                ->excludes(zipf);
  app.add_option("--test-fraction", data.test_fraction,
                 "Without --test: share of the ratings that is held out")
      ->check(number_in(0, 0.99))
      ->excludes(test)
      ->capture_default_str();
  add_columns(app, "--columns", data.columns, {"USER", "ITEM", "RATING"}, 2)->needs(file);
  add_separator(app, data.separator)->needs(file);
  add_names(app, "--ids", data.ids,
            std::map<std::string, io::IdKind>{
                {"found", io::IdKind::found}, {"numbers", io::IdKind::numbers}, {"names", io::IdKind::names}},
            "What users and items are; found: as the first of each")
      ->needs(file);
  app.add_option("--max-id", data.max_id, "Larger user and item ids are an error (default: no limit)")
      ->check(integer_from_0())
      ->needs(file);
}

void add_model_options(CLI::App& app, TrainingOptions& training, OptionConditions& conditions,
                       OptionsByLoss& by_loss) {
  app.add_option("--rank", training.rank, "Factors of each user and item")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--biases,!--no-biases", training.biases,
               "Train biases of users and items, with the losses bpr and warp of items (default: yes)");
  const auto add = [&](const std::string& option, double& value, const std::string& meaning) {
    return app.add_option(option, value, meaning)->check(number_from_0())->capture_default_str();
  };
  by_loss.initial_scale = add("--initial-scale", training.initial_scale,
                              fmt::format("Factors start uniform in [-scale, scale) (losses bpr, warp: {})",
                                          kRankingDefaults.initial_scale));
  by_loss.l2 = add("--l2", training.l2_factors,
                   fmt::format("Regularization of factors (loss bpr: {}, warp: {})", kRankingDefaults.bpr_l2,
                               kRankingDefaults.warp_l2));
  by_loss.l2_biases =
      add("--l2-biases", training.l2_biases,
          fmt::format("Regularization of biases (losses bpr, warp: {})", kRankingDefaults.l2_biases));
  conditions.add(by_loss.l2_biases, "--biases", [&training] { return training.biases; });
}

void add_schedule_options(CLI::App& app, TrainingOptions& training, OptionConditions& conditions,
                          OptionsByLoss& by_loss) {
  using Kind = LearningRateOptions::Kind;
  const CLI::Option* const schedule = add_names(
      app, "--schedule", training.learning_rate.kind,
      std::map<std::string, Kind>{{"decay", Kind::decay}, {"bold_driver", Kind::bold_driver}},
      "Learning rate: rate / (1 + decay * epoch), or 5 % more after an epoch that reduced the training "
      "error, else half");
  conditions.add(schedule, "--loss squared, or as --schedule decay", [&training] {
    return !training.ranking.ranks() || training.learning_rate.kind == Kind::decay;
  });
  by_loss.rate = app.add_option("--rate,--learning-rate", training.learning_rate.initial,
                                fmt::format("Learning rate of the first epoch (loss bpr: {}, warp: {})",
                                            kRankingDefaults.bpr_rate, kRankingDefaults.warp_rate))
                     ->check(number_above_0())
                     ->capture_default_str();
  const CLI::Option* const decay =
      app.add_option("--decay", training.learning_rate.decay, "For --schedule decay")
          ->check(number_from_0())
          ->capture_default_str();
  conditions.add(decay, "--schedule decay",
                 [&training] { return training.learning_rate.kind == Kind::decay; });
  app.add_option("--epochs", training.epochs, "Epochs at most")
      ->check(integer_from_0())
      ->capture_default_str();
  by_loss.patience = app.add_option("--patience", training.patience,
                                    fmt::format("Stop after this many epochs without a better test error, or "
                                                "NDCG (losses bpr, warp: {}); 0: never",
                                                kRankingDefaults.patience))
                         ->check(integer_from_0())
                         ->capture_default_str();
  conditions.add(by_loss.patience, "--evaluate-every above 0",
                 [&training] { return training.patience == 0 || training.evaluate_every != 0; });
  app.add_option("--evaluate-every", training.evaluate_every,
                 "Epochs from one evaluation to the next; 0: never")
      ->check(integer_from_0())
      ->capture_default_str();
}

// Returns the option --update-rule.
const CLI::Option* add_update_rule_options(CLI::App& app, UpdateRuleOptions& rule,
                                           OptionConditions& conditions) {
  const CLI::Option* const update_rule = add_names(
      app, "--update-rule", rule.kind,
      std::map<std::string, UpdateRuleKind>{{"add", UpdateRuleKind::add},
                                            {"sgd", UpdateRuleKind::sgd},
                                            {"adagrad", UpdateRuleKind::adagrad},
                                            {"rowwise-adagrad", UpdateRuleKind::rowwise_adagrad},
                                            {"adam", UpdateRuleKind::adam},
                                            {"ftrl", UpdateRuleKind::ftrl}},
      "add: the workers make the steps of gradient descent, the server adds them; others: the workers "
      "push gradients, the server makes the steps, with --rate as its learning rate (losses bpr, warp: "
      "adagrad)");
  const auto only_with = [&](const std::string& rules, std::initializer_list<UpdateRuleKind> kinds,
                             const std::string& option, double& value, const CLI::Validator& valid,
                             const std::string& meaning) {
    const CLI::Option* const added =
        app.add_option(option, value, meaning)->check(valid)->capture_default_str();
    conditions.add(added, "--update-rule " + rules, [&rule, kinds = std::vector(kinds)] {
      return std::find(kinds.begin(), kinds.end(), rule.kind) != kinds.end();
    });
  };
  only_with("adagrad or rowwise-adagrad", {UpdateRuleKind::adagrad, UpdateRuleKind::rowwise_adagrad},
            "--initial-accumulator", rule.initial_accumulator, number_from_0(),
            "Rules adagrad, rowwise-adagrad: sum of squares before the first push");
  only_with("adam", {UpdateRuleKind::adam}, "--beta1", rule.beta1, number_from_0_below_1(),
            "Rule adam: decay of the mean of the gradients");
  only_with("adam", {UpdateRuleKind::adam}, "--beta2", rule.beta2, number_from_0_below_1(),
            "Rule adam: decay of the mean of their squares");
  only_with("ftrl", {UpdateRuleKind::ftrl}, "--beta", rule.beta, number_from_0(),
            "Rule ftrl: the larger, the slower the first steps");
  only_with("ftrl", {UpdateRuleKind::ftrl}, "--l1", rule.l1, number_from_0(),
            "Rule ftrl: the larger, the more factors are 0");
  return update_rule;
}

// Returns the option --mode.
const CLI::Option* add_execution_options(CLI::App& app, TrainingOptions& training,
                                         OptionConditions& conditions) {
  const auto only_in = [&](TrainingMode mode, const std::string& name, const CLI::Option* option) {
    conditions.add(option, "--mode " + name, [&training, mode] { return training.runner.mode == mode; });
  };
  app.add_option("--workers", training.workers,
                 "Workers on every rank, or a list: workers of each rank (2,0,1); at most 4096")
      ->delimiter(',')
      ->capture_default_str();
  const CLI::Option* const mode = add_names(
      app, "--mode", training.runner.mode,
      std::map<std::string, TrainingMode>{{"blocking", TrainingMode::blocking},
                                          {"latency_hiding", TrainingMode::latency_hiding},
                                          {"classic", TrainingMode::classic},
                                          {"intent", TrainingMode::intent}},
      "blocking: disjoint blocks, localized between subepochs; latency_hiding: factors are localized ahead "
      "of use; classic: nothing is localized; intent: column by column, workers signal intents (default with "
      "--technique, and with the losses bpr and warp)");
  conditions.add(mode, "--loss squared, or as --mode intent", [&training] {
    return !training.ranking.ranks() || training.runner.mode == TrainingMode::intent;
  });
  only_in(TrainingMode::blocking, "blocking",
          add_names(
              app, "--access", training.runner.access,
              std::map<std::string, BlockAccess>{{"lease", BlockAccess::lease}, {"pull", BlockAccess::pull}},
              "Mode blocking: lease each block and train it in place, or localize its columns, pull and "
              "push"));
  conditions.add(add_names(app, "--order", training.runner.order,
                           std::map<std::string, CellOrder>{{"sorted", CellOrder::sorted},
                                                            {"shuffled", CellOrder::shuffled}},
                           "Order in which a worker visits its cells: by row, or random in every epoch"),
                 "--mode blocking, latency_hiding or classic",
                 [&training] { return training.runner.mode != TrainingMode::intent; });
  only_in(TrainingMode::intent, "intent", add_consistency(app, training.runner.consistency, "a batch"));
  const auto add_number = [&](const std::string& option, std::optional<std::size_t>& target,
                              const std::string& meaning) {
    return app
        .add_option_function<std::size_t>(
            option, [&target](std::size_t number) { target = number; }, meaning)
        ->check(CLI::Range(1, 1000000000));
  };
  conditions.add(
      add_number("--lookahead", training.runner.lookahead,
                 "Mode latency_hiding: cells in a window (default: 500); mode intent: batches from "
                 "announcing columns to their use (default: 1000, with technique localize 4)"),
      "--mode latency_hiding or intent", [&training] {
        return training.runner.mode == TrainingMode::latency_hiding ||
               training.runner.mode == TrainingMode::intent;
      });
  conditions.add(add_number("--batch", training.runner.batch,
                            "Modes classic (default: 1) and intent (default: 256): cells whose factors are "
                            "pulled and pushed together"),
                 "--mode classic or intent", [&training] {
                   return training.runner.mode == TrainingMode::classic ||
                          training.runner.mode == TrainingMode::intent;
                 });
  return mode;
}

}  // namespace

void add_options(CLI::App& app, MatrixFactorizationOptions& options) {
  add_data_options(app, options.data);
  const auto conditions = std::make_shared<OptionConditions>();
  OptionsByLoss by_loss{};
  add_ranking_options(app, options.training.ranking, options.data, *conditions);
  add_model_options(app, options.training, *conditions, by_loss);
  add_schedule_options(app, options.training, *conditions, by_loss);
  by_loss.update_rule = add_update_rule_options(app, options.training.update_rule, *conditions);
  const CLI::Option* const mode = add_execution_options(app, options.training, *conditions);
  by_loss.mode = mode;
  conditions->add(app.add_flag("--deterministic", options.training.deterministic,
                               "Refuse modes whose results differ from run to run: blocking gives the same "
                               "ones with the same number of workers, bit for bit"),
                  "--mode blocking",
                  [&options] { return options.training.runner.mode == TrainingMode::blocking; });
  const CLI::Option* const technique = add_technique(app, options.technique);
  add_checkpoint_options(app, options.checkpoints, *conditions, WorkerClocks::none);
  add_settings(app, options.settings);
  app.final_callback([conditions, mode, technique, by_loss, &options] {
    choose_defaults(by_loss, options.training);
    choose_settings(options.settings, options.technique);
    choose_mode(*mode, *technique, options.technique, TrainingMode::intent, options.training.runner.mode);
    conditions->check();
  });
  app.add_option_function<std::uint64_t>(
         "--seed",
         [&options](std::uint64_t seed) {
           options.data.seed = options.data.zipf.seed = options.training.seed = seed;
         },
         "Of generated matrix, held-out ratings, initial factors, order of the cells and negatives")
      ->check(integer_from_0())
      ->default_str("1");
  app.add_flag("--check", options.check,
               "Only print how the data is understood: columns, ids, counts, the first ratings");
  app.add_flag("--baselines,!--no-baselines", options.baselines,
               "Show what mean and biases alone reach, or the most popular items (default: yes)");
  app.add_option(
         "--initial", options.initial,
         "Start from a trained model: the prefix of its files; known users and items get its factors, others "
         "are new")
      ->check(file_name());
  app.add_option("--output-prefix", options.output_prefix,
                 "Write the factors to PREFIX-rows.npy and PREFIX-columns.npy, biases to "
                 "PREFIX-{row,column}-biases.npy, the user and item ids of the rows of these files to "
                 "PREFIX-{row,column}-ids.npy or -names.txt, and a description of all to PREFIX.json, for "
                 "lapse-answers")
      ->check(file_name());
  add_result_files(app, options.results);
}

}  // namespace lapse::apps
