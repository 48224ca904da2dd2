// The command line of linear models.
#include "apps/linear_model/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

LinearModelOptions parse(const std::string& arguments) {
  CLI::App app;
  LinearModelOptions options;
  add_options(app, options);
  app.parse(arguments);
  return options;
}

std::string refusal(const std::string& arguments) {
  try {
    parse(arguments).training.check(2);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("options are read into their fields") {
  const auto options = parse(
      "train --test more --loss squared-hinge --penalty elastic-net --l1-ratio 0.25 --cost 3 --bias 2 "
      "--first-feature 0 --solver sdca --epochs 7 --tolerance 0.01 --step-scale 0.5 --seed 9 --workers 2,0,1 "
      "--technique localize --save-model model --summary-json summary");
  CHECK(options.samples.file == "train");
  CHECK(options.test == "more");
  CHECK(options.samples.first_feature == lapse::io::FirstFeature::zero);
  CHECK(options.samples.bias == 2);
  const LinearTrainingOptions& training = options.training;
  CHECK(training.loss == Loss::squared_hinge);
  CHECK(training.penalty.l1 == 0.25);
  CHECK(training.penalty.l2 == 0.75);
  CHECK(training.cost == 3);
  CHECK(training.solver.solver == Solver::sdca);
  CHECK(training.max_epochs() == 7);
  CHECK(training.error_to_reach() == 0.01);
  CHECK(training.solver.step_scale == 0.5);
  CHECK(training.solver.seed == 9);
  CHECK(training.workers == std::vector<std::int32_t>{2, 0, 1});
  CHECK(options.technique == adapm::Technique::localize);
  CHECK(options.save_model == "model");
  CHECK(options.results.summary_json == "summary");
}

TEST_CASE("the solver and the tolerance suit loss and penalty") {
  CHECK(parse("train").training.solver.solver == Solver::svrg);
  CHECK(parse("train").training.penalty.l1 == 0);
  CHECK(parse("train").training.penalty.l2 == 1);
  CHECK(parse("train").training.error_to_reach() == 1e-4);
  CHECK(parse("train --loss hinge").training.solver.solver == Solver::sdca);
  CHECK(parse("train --loss hinge").training.error_to_reach() == 1e-3);
  CHECK(parse("train --loss squared-hinge").training.solver.solver == Solver::svrg);
  CHECK(parse("train --penalty l1").training.solver.solver == Solver::saga);
  CHECK(parse("train --penalty elastic-net").training.solver.solver == Solver::sdca);
}

TEST_CASE("only SGD has steps with batches and clocks") {
  const auto training =
      parse("train --loss hinge --solver sgd --batch 16 --batch-growth 10 --consistency cap(2)").training;
  CHECK(training.solver.solver == Solver::sgd);
  CHECK(training.solver.batch == 16);
  CHECK(training.solver.batch_growth == 10);
  CHECK(training.consistency == lapse::Consistency::cap(2));
  CHECK(training.max_epochs() == 20);
  CHECK(parse("train").training.max_epochs() == 1000);
  CHECK_THAT(refusal("train --batch 16"), Contains("--solver sgd"));
  CHECK_THAT(refusal("train --consistency bsp"), Contains("--solver sgd"));
  CHECK_THAT(refusal("train --solver sgd --batch 0"), Contains("--batch"));
  CHECK_THAT(refusal("train --solver sgd --batch-growth 0.5"), Contains("--batch-growth"));
}

TEST_CASE("predictions need a model and a file") {
  const auto options = parse("--predict more --model model --output labels --first-feature 1");
  CHECK(options.prediction.samples == "more");
  CHECK(options.prediction.first_feature == lapse::io::FirstFeature::one);
  CHECK(options.model == "model");
  CHECK_THAT(refusal("--predict more --model model"), Contains("--output"));
  CHECK_THAT(refusal("--predict more --output labels"), Contains("--model"));
  CHECK_THAT(refusal("train --model model"), Contains("--predict"));
  CHECK_THAT(refusal("--predict more --model model --output labels --cost 2"),
             Contains("--cost") && Contains("without --predict"));
  CHECK_THAT(refusal("train --predict more --model model --output labels"), Contains("without --predict"));
}

TEST_CASE("invalid combinations of options are refused") {
  CHECK(refusal("train") == "no error");
  CHECK_THAT(refusal(""), Contains("no file of samples"));
  CHECK_THAT(refusal("train --loss hinge --solver svrg"), Contains("svrg") && Contains("--solver sdca"));
  CHECK_THAT(refusal("train --loss hinge --solver loopless"), Contains("slope is continuous"));
  CHECK_THAT(refusal("train --solver svrg --penalty elastic-net"), Contains("L1"));
  CHECK_THAT(refusal("train --solver sdca --penalty l1"), Contains("L2 part"));
  CHECK_THAT(refusal("train --solver sgd --penalty l1"), Contains("L1"));
  // With two ranks.
  CHECK_THAT(refusal("train --penalty l1"), Contains("one worker, not on 2"));
  CHECK(refusal("train --penalty l1 --workers 1,0") == "no error");
  CHECK_THAT(refusal("train --l1-ratio 0.1"), Contains("--penalty elastic-net"));
  CHECK_THAT(refusal("train --cost 0"), Contains("--cost"));
  CHECK_THAT(refusal("train --cost nan"), Contains("--cost"));
  CHECK_THAT(refusal("train --bias -1"), Contains("--bias"));
  CHECK_THAT(refusal("train --solver newton"), Contains("newton"));
  CHECK_THAT(refusal("train --workers 0"), Contains("no workers"));
  CHECK_THAT(refusal("train --workers 1,2,3"), Contains("3 numbers of workers"));
}
