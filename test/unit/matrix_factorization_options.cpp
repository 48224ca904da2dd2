// The command line of the matrix factorization.
#include "apps/matrix_factorization/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;

namespace {

MatrixFactorizationOptions parse(const std::string& arguments) {
  CLI::App app;
  MatrixFactorizationOptions options;
  add_options(app, options);
  app.parse(arguments);
  return options;
}

}  // namespace

TEST_CASE("options are read into their fields") {
  const auto options = parse(
      "ratings.tsv --rank 8 --no-biases --mode classic --order shuffled --workers 2,0,1 --schedule "
      "bold_driver --rate 0.5 "
      "--seed 9 --batch 64 --epochs 3 --no-baselines --output-prefix out --test test.tsv --max-id "
      "18446744073709551614");
  CHECK(options.data.train_file == "ratings.tsv");
  CHECK(options.data.test_file == "test.tsv");
  CHECK(options.data.max_id == 18446744073709551614U);
  CHECK(options.training.rank == 8);
  CHECK_FALSE(options.training.biases);
  CHECK(options.training.runner.mode == TrainingMode::classic);
  CHECK(options.training.runner.order == CellOrder::shuffled);
  CHECK(options.training.runner.batch == 64);
  CHECK(options.training.workers == std::vector<std::int32_t>{2, 0, 1});
  CHECK(options.training.learning_rate.kind == LearningRateOptions::Kind::bold_driver);
  CHECK(options.training.learning_rate.initial == 0.5);
  CHECK(options.training.seed == 9);
  CHECK(options.data.seed == 9);
  CHECK(options.data.zipf.seed == 9);
  CHECK_FALSE(options.baselines);
  CHECK(options.output_prefix == "out");
}

TEST_CASE("rates of decay of 1 are refused with the option") {
  const std::string option = GENERATE("--beta1", "--beta2");
  const std::string value = GENERATE("1", "0.99999999999", "-0.1");
  CAPTURE(option, value);
  CHECK_THROWS_WITH(parse("--update-rule adam " + option + "=" + value),
                    Catch::Matchers::Contains(option) && Catch::Matchers::Contains("below 1"));
}

TEST_CASE("update rules and their parameters are read") {
  CHECK(parse("").training.update_rule.kind == lapse::UpdateRuleKind::add);
  CHECK(parse("").training.runner.access == BlockAccess::lease);
  CHECK(parse("--access pull").training.runner.access == BlockAccess::pull);
  const auto rule = [&](const std::string& arguments) {
    const auto options = parse("--learning-rate 0.25 --update-rule " + arguments).training;
    return make_update_rule(options.update_rule, options.learning_rate.initial).to_string();
  };
  using lapse::UpdateRule;
  CHECK(rule("add") == UpdateRule::add().to_string());
  CHECK(rule("sgd") == UpdateRule::sgd({.learning_rate = 0.25}).to_string());
  CHECK(rule("adagrad --initial-accumulator 2") ==
        UpdateRule::adagrad({.learning_rate = 0.25, .initial_accumulator = 2}).to_string());
  CHECK(rule("rowwise-adagrad --initial-accumulator 2") ==
        UpdateRule::rowwise_adagrad({.learning_rate = 0.25, .initial_accumulator = 2}).to_string());
  CHECK(rule("adam --beta1 0.5 --beta2 0.75") ==
        UpdateRule::adam({.learning_rate = 0.25, .beta1 = 0.5, .beta2 = 0.75}).to_string());
  CHECK(rule("ftrl --beta 3 --l1 4") == UpdateRule::ftrl({.alpha = 0.25, .beta = 3, .l1 = 4}).to_string());
  CHECK_THROWS_WITH(parse("--update-rule momentum"),
                    Catch::Matchers::Contains("{adagrad,adam,add,ftrl,rowwise-adagrad,sgd}"));
  CHECK_THROWS_AS(make_update_rule({.kind = lapse::UpdateRuleKind::assign}, 0.1), lapse::ConfigurationError);
}

TEST_CASE("a matrix can be generated instead of read") {
  const auto options = parse("--zipf 30x20x100 --zipf-exponent 2");
  CHECK(options.data.train_file.empty());
  CHECK(options.data.zipf.rows == 30);
  CHECK(options.data.zipf.columns == 20);
  CHECK(options.data.zipf.cells == 100);
  CHECK(options.data.zipf.exponent == 2);
  CHECK(options.baselines);
  CHECK(options.training.biases);
}

TEST_CASE("command lines that make no sense are refused") {
  const std::string arguments =
      GENERATE("--zipf 30x20", "--zipf 30x20x10x5", "--zipf 0x20x10", "--zipf ax20x10", "--zipf 30x20x-1",
               "file --zipf 3x2x1", "--zipf 3x2x1 --test file", "--rank 0", "--rank -1", "--mode fast",
               "--order random", "--test-fraction 1", "--test-fraction -0.1", "--workers 1,x", "--rate 0",
               "--l2 -1", "--access direct", "--beta1 2", "--l1 -1", "--initial-accumulator -1",
               "--lookahead 0", "--batch 0", "--unknown", "file another");
  CAPTURE(arguments);
  CHECK_THROWS_AS(parse(arguments), CLI::ParseError);
}

TEST_CASE("numbers that are not finite, or not of their kind, are refused by the name of their option") {
  const std::string option =
      GENERATE("--rate", "--decay", "--l2", "--l2-biases", "--initial-scale", "--test-fraction",
               "--zipf-exponent", "--initial-accumulator", "--beta1", "--beta2", "--beta", "--l1");
  const std::string value = GENERATE("nan", "inf", "-inf", "1e39", "-1", "x");
  CHECK_THROWS_WITH(parse(option + "=" + value),
                    Catch::Matchers::Contains(option + ": " + value + ", expected"));
}

TEST_CASE("negative numbers are no very large ones") {
  const std::string option = GENERATE("--epochs", "--patience", "--evaluate-every", "--seed", "--max-id");
  CHECK_THROWS_WITH(parse("file " + option + "=-1"),
                    Catch::Matchers::Contains(option + ": -1, expected an integer from 0"));
}

TEST_CASE("names of files are not empty") {
  const std::string option = GENERATE("--test", "--output-prefix", "--summary-json", "--report");
  CHECK_THROWS_WITH(parse("file " + option + " ''"), Catch::Matchers::Contains(option));
  CLI::App app;
  MatrixFactorizationOptions options;
  add_options(app, options);
  const std::vector<const char*> arguments{"program", ""};
  CHECK_THROWS_WITH(app.parse(2, arguments.data()),
                    Catch::Matchers::Contains("ratings: expected the name of a file"));
}

TEST_CASE("options without effect are errors that name what they need, or what they contradict") {
  const auto [arguments, option, other] = GENERATE(table<std::string, std::string, std::string>({
      {"file --test f --test-fraction 0.5", "--test-fraction", "--test"},
      {"file --zipf-exponent 2", "--zipf-exponent", "ratings"},
      {"--max-id 5", "--max-id", "ratings"},
      {"--test f", "--test", "ratings"},
      {"--no-biases --l2-biases 0.5", "--l2-biases", "--biases"},
      {"--schedule bold_driver --decay 0.5", "--decay", "--schedule decay"},
      {"--patience 2 --evaluate-every 0", "--patience", "--evaluate-every above 0"},
      {"--beta1 0.5", "--beta1", "--update-rule adam"},
      {"--update-rule ftrl --beta2 0.5", "--beta2", "--update-rule adam"},
      {"--update-rule adam --beta 1", "--beta", "--update-rule ftrl"},
      {"--update-rule sgd --l1 1", "--l1", "--update-rule ftrl"},
      {"--initial-accumulator 1", "--initial-accumulator", "--update-rule adagrad or rowwise-adagrad"},
      {"--mode classic --access pull", "--access", "--mode blocking"},
      {"--lookahead 5", "--lookahead", "--mode latency_hiding"},
      {"--mode latency_hiding --batch 5", "--batch", "--mode classic"},
  }));
  CAPTURE(arguments);
  CHECK_THROWS_WITH(parse(arguments), Catch::Matchers::Contains(option) && Catch::Matchers::Contains(other));
  CHECK_NOTHROW(parse("--patience 0 --evaluate-every 0"));
}

TEST_CASE("training options that contradict each other or the job are refused") {
  TrainingOptions options;
  CHECK_NOTHROW(options.check(3));
  const auto refused = [](double TrainingOptions::*member) {
    TrainingOptions changed;
    changed.*member = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(changed.check(3), lapse::ConfigurationError);
  };
  refused(&TrainingOptions::initial_scale);
  refused(&TrainingOptions::l2_factors);
  refused(&TrainingOptions::l2_biases);
  options.workers = {1, 2};
  CHECK_THROWS_AS(options.check(3), lapse::ConfigurationError);
  CHECK_NOTHROW(options.check(2));
  options.learning_rate.kind = LearningRateOptions::Kind::bold_driver;
  CHECK_NOTHROW(options.check(2));
  options.evaluate_every = 2;
  CHECK_THROWS_AS(options.check(2), lapse::ConfigurationError);
}

TEST_CASE("losses that rank items choose their mode, update rule and strengths, unless these are given") {
  const TrainingOptions squared = parse("").training;
  CHECK_FALSE(squared.ranking.ranks());
  CHECK(squared.runner.mode == TrainingMode::blocking);
  const auto bpr = parse("--loss bpr --positive-from 4 --top 5 --sampling pool");
  CHECK(bpr.training.ranking.loss == FactorLoss::bpr);
  CHECK(bpr.training.ranking.top == 5);
  CHECK(bpr.training.ranking.sampling == adapm::SamplingScheme::pool);
  CHECK(bpr.data.positive_from == 4);
  CHECK(bpr.training.runner.mode == TrainingMode::intent);
  CHECK(bpr.training.update_rule.kind == lapse::UpdateRuleKind::adagrad);
  CHECK(bpr.training.patience == 10);
  const TrainingOptions warp = parse("--loss warp --max-sampled 3").training;
  CHECK(warp.ranking.loss == FactorLoss::warp);
  CHECK(warp.ranking.max_sampled == 3);
  CHECK(warp.l2_factors > bpr.training.l2_factors);
  CHECK(warp.learning_rate.initial < bpr.training.learning_rate.initial);
  const TrainingOptions given = parse(
                                    "--loss bpr --rate 0.25 --l2 0.5 --l2-biases 0.125 --initial-scale 2 "
                                    "--patience 7 --update-rule add --mode "
                                    "intent")
                                    .training;
  CHECK(given.learning_rate.initial == 0.25);
  CHECK(given.l2_factors == 0.5);
  CHECK(given.l2_biases == 0.125);
  CHECK(given.initial_scale == 2);
  CHECK(given.patience == 7);
  CHECK(given.update_rule.kind == lapse::UpdateRuleKind::add);
  CHECK(parse("--loss bpr --beta1 0.5 --update-rule adam").training.update_rule.beta1 == 0.5);
}

TEST_CASE("options that mean nothing with a loss are refused with the loss they need") {
  const auto refuses = [](const std::string& arguments, const std::string& message) {
    CAPTURE(arguments);
    CHECK_THROWS_WITH(parse(arguments), Catch::Matchers::Contains(message));
  };
  refuses("--positive-from 4", "--positive-from applies only with --loss bpr or warp");
  refuses("--top 5", "--top applies only with --loss bpr or warp");
  refuses("--sampling local", "--sampling applies only with --loss bpr or warp");
  refuses("--loss bpr --max-sampled 5", "--max-sampled applies only with --loss warp");
  refuses("--loss bpr --mode blocking", "--mode applies only with --loss squared");
  refuses("--loss warp --schedule bold_driver", "--schedule applies only with --loss squared");
  refuses("--loss warp --order shuffled", "--order applies only with --mode");
  refuses("--loss bpr --deterministic", "--deterministic applies only with --mode blocking");
  refuses("--loss hinge", "{bpr,squared,warp}");
  refuses("--loss bpr --top 0", "--top");
  refuses("--loss warp --max-sampled 0", "--max-sampled");
  refuses("--loss bpr --positive-from nan", "--positive-from");

  TrainingOptions options;
  options.ranking.loss = FactorLoss::bpr;
  CHECK_THROWS_WITH(options.check(1), Catch::Matchers::Contains("need the mode intent"));
  options.runner.mode = TrainingMode::intent;
  CHECK_NOTHROW(options.check(1));
  options.ranking.top = 0;
  CHECK_THROWS_AS(options.check(1), lapse::ConfigurationError);
}
