// The command line of the word vectors.
#include "apps/word_vectors/options.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

WordVectorsOptions parse(const std::string& arguments) {
  CLI::App app;
  WordVectorsOptions options;
  add_options(app, options);
  app.parse(arguments);
  return options;
}

}  // namespace

TEST_CASE("options are read into their fields") {
  const auto options = parse(
      "a.txt b.txt --min-count 3 --dim 8 --window 2 --negatives 7 --separate-negatives --noise-exponent 0.5 "
      "--negative-uses 6 --subsample 0.25 --optimiser adagrad --rate 0.5 --epochs 3 --seed 9 --workers 2,0,1 "
      "--batch 16 "
      "--lookahead 4 --shuffle 10 --technique localize --sampling naive --analogies questions "
      "--word-similarity pairs "
      "--output out --output-format text --summary-json summary --progress 2.5");
  CHECK(options.corpus.files == std::vector<std::string>{"a.txt", "b.txt"});
  CHECK(options.corpus.min_count == 3);
  CHECK(options.training.dimensions == 8);
  CHECK(options.training.workers == std::vector<std::int32_t>{2, 0, 1});
  const RunnerOptions& runner = options.training.runner;
  CHECK(runner.windows.window == 2);
  CHECK(runner.windows.negatives == 7);
  CHECK_FALSE(runner.windows.shared_negatives);
  CHECK(runner.windows.negative_uses == 6);
  CHECK(runner.windows.noise_exponent == 0.5);
  CHECK(runner.windows.subsample == 0.25);
  CHECK(runner.windows.batch == 16);
  CHECK(runner.optimiser == Optimiser::adagrad);
  CHECK(runner.rate == 0.5);
  CHECK(runner.epochs == 3);
  CHECK(runner.seed == 9);
  CHECK(runner.lookahead == 4);
  CHECK(runner.shuffle == 10);
  CHECK(options.technique == adapm::Technique::localize);
  CHECK(options.training.sampling == adapm::SamplingScheme::naive);
  CHECK(options.evaluation.analogies == "questions");
  CHECK(options.evaluation.word_similarity == "pairs");
  CHECK(options.output == "out");
  CHECK(options.output_format == VectorFormat::text);
  CHECK(options.results.summary_json == "summary");
  CHECK(options.progress_seconds == 2.5);
}

TEST_CASE("the defaults are those of the literature") {
  const auto options = parse("text");
  CHECK(options.corpus.min_count == 5);
  CHECK(options.training.dimensions == 100);
  CHECK(options.training.runner.windows.window == 5);
  CHECK(options.training.runner.windows.negatives == 5);
  CHECK(options.training.runner.windows.subsample == 1e-4);
  CHECK(options.training.runner.windows.noise_exponent == 0.75);
  CHECK(options.training.runner.rate == 0.05);
  CHECK(options.training.runner.epochs == 5);
  CHECK(options.output_format == VectorFormat::binary);
  CHECK_FALSE(options.technique);
}

TEST_CASE("vectors of a file can be evaluated without training") {
  const auto options = parse("--evaluate-only vectors --analogies questions --workers 2");
  CHECK(options.evaluate_only == "vectors");
}

TEST_CASE("values that make no sense are refused by the name of their option") {
  const auto [arguments, message] = GENERATE(table<std::string, std::string>({
      {"text --dim 0", "--dim"},
      {"text --window 0", "--window"},
      {"text --batch 0", "--batch"},
      {"text --negative-uses 0", "--negative-uses"},
      {"text --lookahead 0", "--lookahead"},
      {"text --rate 0", "--rate"},
      {"text --rate nan", "--rate"},
      {"text --subsample -1", "--subsample"},
      {"text --min-count -1", "--min-count"},
      {"text --optimiser adam", "--optimiser"},
      {"text --technique magic", "--technique"},
      {"text --output ''", "--output"},
      {"", "a text file is expected"},
  }));
  CAPTURE(arguments);
  CHECK_THROWS_WITH(parse(arguments), Contains(message));
}

TEST_CASE("options that contradict each other, or have no effect, are refused") {
  const auto [arguments, message] = GENERATE(table<std::string, std::string>({
      {"text --evaluate-only vectors --analogies q", "excludes"},
      {"--evaluate-only vectors", "--evaluate-only applies only with --analogies or --word-similarity"},
      {"--evaluate-only vectors --analogies q --epochs 3", "--epochs applies only without --evaluate-only"},
      {"--evaluate-only vectors --analogies q --output out", "--output applies only without --evaluate-only"},
      {"text --output-format text", "--output-format applies only with --output"},
      {"text --negatives 0 --separate-negatives",
       "--separate-negatives applies only with --negatives above 0"},
      {"text --negatives 0 --negative-uses 3", "--negative-uses applies only with --negatives above 0"},
      {"text --negatives 0 --sampling local", "--sampling applies only with --negatives above 0"},
      {"text --negatives 0 --noise-exponent 1", "--noise-exponent applies only with --negatives above 0"},
  }));
  CAPTURE(arguments);
  CHECK_THROWS_WITH(parse(arguments), Contains(message));
}

TEST_CASE("training options that make no sense, or contradict the job, are refused") {
  CHECK_NOTHROW(TrainingOptions{}.check(3));
  const auto refused = [](auto change) {
    TrainingOptions changed;
    change(changed);
    CHECK_THROWS_AS(changed.check(3), lapse::ConfigurationError);
  };
  refused([](TrainingOptions& changed) { changed.workers = {1, 2}; });
  refused([](TrainingOptions& changed) { changed.workers = {0}; });
  refused([](TrainingOptions& changed) { changed.dimensions = 0; });
  refused([](TrainingOptions& changed) { changed.runner.rate = 0; });
  refused([](TrainingOptions& changed) { changed.runner.lookahead = 0; });
  refused([](TrainingOptions& changed) { changed.runner.windows.window = 0; });
  refused([](TrainingOptions& changed) { changed.runner.windows.batch = 0; });
  refused([](TrainingOptions& changed) { changed.runner.windows.negative_uses = 0; });
  refused([](TrainingOptions& changed) { changed.runner.windows.subsample = -1; });
  refused([](TrainingOptions& changed) {
    changed.runner.windows.noise_exponent = std::numeric_limits<double>::infinity();
  });
}
