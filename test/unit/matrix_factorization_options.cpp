// The command line of the matrix factorization.
#include "apps/matrix_factorization/options.hpp"

#include <CLI/CLI.hpp>
#include <string>

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
      "--seed 9 --batch 64 --epochs 3 --no-baselines --output-prefix out --test test.tsv");
  CHECK(options.data.train_file == "ratings.tsv");
  CHECK(options.data.test_file == "test.tsv");
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

TEST_CASE("update rules and their parameters are read") {
  CHECK(parse("").training.update_rule.kind == lapse::UpdateRuleKind::add);
  CHECK(parse("").training.runner.access == BlockAccess::lease);
  const auto options = parse(
                           "--update-rule adam --learning-rate 0.25 --beta1 0.5 --beta2 0.75 "
                           "--initial-accumulator 2 --beta 3 --l1 4 "
                           "--access pull")
                           .training;
  CHECK(options.runner.access == BlockAccess::pull);
  CHECK(options.learning_rate.initial == 0.25);
  const auto rule = [&](const std::string& name) {
    UpdateRuleOptions named = options.update_rule;
    named.kind = parse("--update-rule " + name).training.update_rule.kind;
    return make_update_rule(named, options.learning_rate.initial).to_string();
  };
  using lapse::UpdateRule;
  CHECK(rule("add") == UpdateRule::add().to_string());
  CHECK(rule("sgd") == UpdateRule::sgd({.learning_rate = 0.25}).to_string());
  CHECK(rule("adagrad") ==
        UpdateRule::adagrad({.learning_rate = 0.25, .initial_accumulator = 2}).to_string());
  CHECK(rule("rowwise-adagrad") ==
        UpdateRule::rowwise_adagrad({.learning_rate = 0.25, .initial_accumulator = 2}).to_string());
  CHECK(rule("adam") == UpdateRule::adam({.learning_rate = 0.25, .beta1 = 0.5, .beta2 = 0.75}).to_string());
  CHECK(rule("ftrl") == UpdateRule::ftrl({.alpha = 0.25, .beta = 3, .l1 = 4}).to_string());
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

TEST_CASE("training options that contradict each other or the job are refused") {
  TrainingOptions options;
  CHECK_NOTHROW(options.check(3));
  options.workers = {1, 2};
  CHECK_THROWS_AS(options.check(3), lapse::ConfigurationError);
  CHECK_NOTHROW(options.check(2));
  options.learning_rate.kind = LearningRateOptions::Kind::bold_driver;
  CHECK_NOTHROW(options.check(2));
  options.evaluate_every = 2;
  CHECK_THROWS_AS(options.check(2), lapse::ConfigurationError);
}
