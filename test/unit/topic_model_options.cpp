// The command line of the topic model.
#include "apps/topic_model/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

TopicModelOptions parse(const std::string& arguments) {
  CLI::App app;
  TopicModelOptions options;
  add_options(app, options);
  app.parse(arguments);
  return options;
}

}  // namespace

TEST_CASE("options are read into their fields") {
  const auto options = parse(
      "docs.txt --vocabulary words.txt --topics 20 --alpha 0.25 --beta 0.5 --epochs 7 --seed 9 --workers "
      "2,0,1 "
      "--batch 16 --lookahead 4 --evaluate-every 3 --optimize-every 6 --optimize-after 2 --technique "
      "localize --consistency cap(2) --output out "
      "--top-words 5 "
      "--summary-json summary");
  CHECK(options.documents.file == "docs.txt");
  CHECK(options.documents.vocabulary == "words.txt");
  const TopicTrainingOptions& training = options.training;
  CHECK(training.topics == 20);
  CHECK(training.alpha == 0.25);
  CHECK(training.beta == 0.5);
  CHECK(training.epochs == 7);
  CHECK(training.worker.seed == 9);
  CHECK(training.workers == std::vector<std::int32_t>{2, 0, 1});
  CHECK(training.worker.batch == 16);
  CHECK(training.worker.lookahead == 4);
  CHECK(training.evaluate_every == 3);
  CHECK(training.optimize_every == 6);
  CHECK(training.optimize_after == 2);
  CHECK(options.technique == adapm::Technique::localize);
  CHECK(training.consistency == lapse::Consistency::cap(2));
  CHECK(options.output == "out");
  CHECK(options.top_words == 5);
  CHECK(options.results.summary_json == "summary");
}

TEST_CASE("alpha depends on the number of topics unless it is given") {
  CHECK(parse("docs").training.priors(10).alpha == std::vector<double>(100, 0.5));
  CHECK(parse("docs --topics 1000").training.priors(10).alpha == std::vector<double>(1000, 0.05));
  CHECK(parse("docs --topics 1000 --alpha 2").training.priors(10).alpha == std::vector<double>(1000, 2));
  CHECK(parse("docs").training.priors(10).words == 10);
}

TEST_CASE("priors are optimized at intervals after the first epochs") {
  const auto training = parse("docs --optimize-every 3 --optimize-after 4").training;
  std::vector<std::uint64_t> epochs;
  for (std::uint64_t epoch = 1; epoch <= 12; ++epoch)
    if (training.optimizes(epoch)) epochs.push_back(epoch);
  CHECK(epochs == std::vector<std::uint64_t>{7, 10});
  CHECK(parse("docs --optimize-every 1 --optimize-after 0").training.optimizes(1));
  CHECK_FALSE(parse("docs").training.optimizes(30));
}

TEST_CASE("documents are a bag of words or text") {
  CHECK(parse("docs").documents.format == DocumentFormat::bag_of_words);
  const auto text = parse("docs --text --min-count 3 --stop-words stop --held-out more").documents;
  CHECK(text.format == DocumentFormat::text);
  CHECK(text.min_count == 3);
  CHECK(text.stop_words == "stop");
  CHECK(parse("docs --held-out more").held_out == "more");
  CHECK(parse("docs --coherence-words 0").coherence_words == 0);
  const auto model = parse("docs --text --model news --document-topics out");
  CHECK(model.model == "news");
  CHECK(model.document_topics == "out");
  CHECK(parse("docs --save-model news").save_model == "news");
}

TEST_CASE("options without effect are refused") {
  for (const char* const arguments :
       {"docs --min-count 3", "docs --stop-words stop", "docs --text --vocabulary words --min-count 3",
        "docs --model news", "docs --document-topics out", "docs --coherence-words 1",
        "docs --model news --document-topics out --topics 5",
        "docs --model news --document-topics out --vocabulary words",
        "docs --model news --document-topics out --held-out more",
        "docs --model news --document-topics out --save-model other",
        "docs --model news --document-topics out --text --min-count 2",
        "docs --model news --document-topics out --output topics",
        "docs --model news --document-topics out --checkpoint-dir folder"}) {
    CAPTURE(arguments);
    CHECK_THROWS_AS(parse(arguments), CLI::Error);
  }
}

TEST_CASE("invalid options are refused") {
  for (const char* const arguments :
       {"", "docs --topics 0", "docs --topics -1", "docs --consistency cap(-1)", "docs --consistency fast",
        "docs --alpha 0", "docs --beta -1", "docs --beta nan", "docs --epochs x", "docs --batch 0",
        "docs --lookahead 0", "docs --optimize-every -1", "docs --optimize-after 3", "docs --top-words 0",
        "docs --checkpoint-every 5", "docs --rate 1"}) {
    CAPTURE(arguments);
    CHECK_THROWS_AS(parse(arguments), CLI::Error);
  }
  TopicTrainingOptions options;
  const auto check_refused = [&](const char* words) {
    CHECK_THROWS_WITH(options.check(2), Contains(words));
    options = {};
  };
  options.topics = 0;
  check_refused("0 topics");
  options.alpha = 0;
  check_refused("alpha");
  options.beta = -1;
  check_refused("beta");
  options.workers = {0, 0};
  check_refused("no workers");
  options.workers = {1, 1, 1};
  check_refused("3");
  options.worker.batch = 0;
  check_refused("batch 0");
  options.worker.lookahead = 0;
  check_refused("lookahead 0");
}
