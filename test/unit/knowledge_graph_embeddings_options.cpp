// The command line of the knowledge graph embeddings.
#include "apps/knowledge_graph_embeddings/options.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse::apps;

namespace {

KnowledgeGraphOptions parse(const std::string& arguments) {
  CLI::App app;
  KnowledgeGraphOptions options;
  add_options(app, options);
  app.parse(arguments);
  return options;
}

}  // namespace

TEST_CASE("options are read into their fields") {
  const auto options = parse(
      "train.txt --valid valid.txt --test test.txt --model rescal --dim 8 --initial-scale 0.5 --negatives 3 "
      "--shared-negatives --loss softmax --reciprocal --n3 0.125 --entity-dropout 0.5 --relation-dropout "
      "0.25 "
      "--optimiser adagrad --rate-decay 0.75 --plateau-decay 0.5 --patience 4 --l2 0.25 --rate 0.5 "
      "--initial-accumulator 0.125 --epsilon 0.0625 --epochs 3 "
      "--evaluate-every 2 --workers 2,0,1 --mode latency_hiding --batch 16 --lookahead 9 --prefetch 2 "
      "--seed 9 --output-prefix out --summary-json summary");
  CHECK(options.data.train_file == "train.txt");
  CHECK(options.data.valid_file == "valid.txt");
  CHECK(options.data.test_file == "test.txt");
  CHECK(options.data.seed == 9);
  const TrainingOptions& training = options.training;
  CHECK(training.model.kind == ModelKind::rescal);
  CHECK(training.model.dimensions == 8);
  CHECK(training.initial_scale == 0.5);
  CHECK(training.runner.negatives.per_side == 3);
  CHECK(training.runner.negatives.sharing == NegativeSharing::batch);
  CHECK(training.runner.loss.kind == LossKind::softmax);
  CHECK(training.runner.loss.l2 == 0.25);
  CHECK(training.runner.loss.n3 == 0.125);
  CHECK(training.runner.loss.dropout.entity == 0.5);
  CHECK(training.runner.loss.dropout.relation == 0.25);
  CHECK(training.reciprocal);
  CHECK(training.optimiser.kind == OptimiserKind::adagrad);
  CHECK(training.schedule.rate_decay == 0.75);
  CHECK(training.schedule.plateau_decay == 0.5);
  CHECK(training.schedule.patience == 4);
  CHECK(training.optimiser.learning_rate == 0.5);
  CHECK(training.optimiser.initial_accumulator == 0.125);
  CHECK(training.optimiser.epsilon == 0.0625);
  CHECK(training.epochs == 3);
  CHECK(training.evaluate_every == 2);
  CHECK(training.workers == std::vector<std::int32_t>{2, 0, 1});
  CHECK(training.runner.mode == TrainingMode::latency_hiding);
  CHECK(training.runner.batch == 16);
  CHECK(training.runner.lookahead == 9);
  CHECK(training.runner.prefetch == 2);
  CHECK(training.seed == 9);
  CHECK(options.output_prefix == "out");
  CHECK(options.results.summary_json == "summary");
}

TEST_CASE("a graph can be generated instead of read") {
  const auto options = parse("--generate 30,2,100 --model transe --margin 3 --eval-every 0");
  CHECK(options.data.train_file.empty());
  CHECK(options.data.random.entities == 30);
  CHECK(options.data.random.relations == 2);
  CHECK(options.data.random.triples == 100);
  CHECK(options.training.model.kind == ModelKind::transe);
  CHECK(options.training.model.margin == 3);
  CHECK(options.training.evaluate_every == 0);
}

TEST_CASE("command lines that make no sense are refused") {
  const std::string arguments =
      GENERATE("--generate 30,2", "--generate 30,2,1,1", "--generate 0,2,3", "--generate 3,0,3",
               "--generate 3,2,0", "--generate 3,2,-1", "--generate 4294967296,2,3", "--generate a,2,3",
               "file --generate 3,2,1", "--valid file", "--test file", "--dim 0", "--dim -1",
               "--negatives -1", "--rate 0", "--l2 -1", "--batch 0", "--workers 1,x", "--epsilon -1",
               "--unknown", "file another", "--negatives x", "--negatives 1x", "--negatives 1000001",
               "--loss hinge", "--optimiser sgd", "--entity-dropout 1", "--relation-dropout -0.1",
               "--rate-decay 0", "--rate-decay 1.5", "--plateau-decay 0", "--n3 -1", "--config missing");
  CAPTURE(arguments);
  CHECK_THROWS_AS(parse(arguments), CLI::ParseError);
}

TEST_CASE("numbers that are not finite, or not of their kind, are refused by the name of their option") {
  const std::string option =
      GENERATE("--rate", "--l2", "--initial-scale", "--margin", "--initial-accumulator", "--epsilon");
  const std::string value = GENERATE("nan", "inf", "1e39", "x");
  CHECK_THROWS_WITH(parse("--model transe " + option + "=" + value),
                    Catch::Matchers::Contains(option + ": " + value + ", expected"));
  const std::string whole = GENERATE("--epochs", "--evaluate-every", "--seed");
  CHECK_THROWS_WITH(parse("file --test file " + whole + "=-1"),
                    Catch::Matchers::Contains(whole + ": -1, expected an integer from 0"));
}

TEST_CASE("names of files are not empty") {
  const std::string option = GENERATE("--test", "--valid", "--output-prefix", "--summary-json");
  CHECK_THROWS_WITH(parse("file " + option + " ''"), Catch::Matchers::Contains(option));
  CLI::App app;
  KnowledgeGraphOptions options;
  add_options(app, options);
  const std::vector<const char*> arguments{"program", ""};
  CHECK_THROWS_WITH(app.parse(2, arguments.data()),
                    Catch::Matchers::Contains("train: expected the name of a file"));
}

TEST_CASE("options without effect are errors that name what they need") {
  const auto [arguments, message] = GENERATE(table<std::string, std::string>({
      {"--margin 3", "--margin applies only with --model transe"},
      {"--shared-negatives --negatives 0", "--shared-negatives applies only with --negatives above 0"},
      {"--shared-negatives --negatives all", "--shared-negatives: applies only with a number of --negatives"},
      {"--loss softmax --negatives 0", "--loss applies only with --negatives above 0 if it is softmax"},
      {"--negatives all", "--negatives applies only with --mode classic, clustering or intent"},
      {"--optimiser adam --initial-accumulator 1",
       "--initial-accumulator applies only with --optimiser adagrad"},
      {"file --test file --patience 2", "--patience applies only with --valid, and --evaluate-every above 0"},
      {"file --valid file --evaluate-every 0 --patience 2", "--patience applies only with --valid"},
      {"file --plateau-decay 0.5", "--plateau-decay applies only with --valid"},
      {"file --evaluate-every 2", "--evaluate-every applies only with --valid or --test"},
      {"--mode classic --lookahead 2",
       "--lookahead applies only with --mode latency_hiding, combined or intent"},
      {"--mode clustering --lookahead 2",
       "--lookahead applies only with --mode latency_hiding, combined or intent"},
  }));
  CHECK_THROWS_WITH(parse(arguments), Catch::Matchers::Contains(message));
}

TEST_CASE("an unknown model or mode is refused with the choices") {
  CHECK_THROWS_WITH(parse("--model rotate"),
                    Catch::Matchers::Contains("complex") && Catch::Matchers::Contains("distmult") &&
                        Catch::Matchers::Contains("rescal") && Catch::Matchers::Contains("transe"));
  CHECK_THROWS_WITH(parse("--mode fast"),
                    Catch::Matchers::Contains("classic") && Catch::Matchers::Contains("clustering") &&
                        Catch::Matchers::Contains("latency_hiding") && Catch::Matchers::Contains("combined"));
}

TEST_CASE("training options that make no sense, or contradict the job, are refused") {
  TrainingOptions options;
  CHECK_NOTHROW(options.check(3));
  const auto refused = [](auto change) {
    TrainingOptions changed;
    change(changed);
    CHECK_THROWS_AS(changed.check(3), lapse::ConfigurationError);
  };
  refused([](TrainingOptions& changed) { changed.workers = {1, 2}; });
  refused([](TrainingOptions& changed) { changed.workers = {0}; });
  refused([](TrainingOptions& changed) { changed.model.dimensions = 0; });
  refused([](TrainingOptions& changed) { changed.initial_scale = -1; });
  refused([](TrainingOptions& changed) { changed.optimiser.learning_rate = 0; });
  refused([](TrainingOptions& changed) { changed.runner.batch = 0; });
  refused([](TrainingOptions& changed) { changed.runner.loss.l2 = -1; });
  refused([](TrainingOptions& changed) { changed.runner.loss.n3 = -1; });
  refused([](TrainingOptions& changed) { changed.runner.loss.dropout.entity = 1; });
  refused([](TrainingOptions& changed) { changed.runner.loss.dropout.relation = -0.5; });
  refused([](TrainingOptions& changed) { changed.schedule.rate_decay = 0; });
  refused([](TrainingOptions& changed) { changed.schedule.plateau_decay = 2; });
  refused([](TrainingOptions& changed) {
    changed.runner.negatives = {.per_side = 0, .sharing = NegativeSharing::batch};
  });
  refused([](TrainingOptions& changed) { changed.runner.negatives.sharing = NegativeSharing::all; });
  refused([](TrainingOptions& changed) {
    changed.runner.negatives.per_side = 0;
    changed.runner.loss.kind = LossKind::softmax;
  });
  refused([](TrainingOptions& changed) { changed.model.margin = std::numeric_limits<double>::infinity(); });
}

TEST_CASE("embeddings are announced as far ahead as asked for, but no later than they are pulled") {
  RunnerOptions options;
  CHECK(lookahead_of(options, true) == 200);
  CHECK(lookahead_of(options, false) == 4);
  options.negatives.sharing = NegativeSharing::all;
  CHECK(lookahead_of(options, true) == 16);
  options.lookahead = 50;
  CHECK(lookahead_of(options, true) == 50);
  CHECK(lookahead_of(options, false) == 50);
  options.prefetch = 60;
  CHECK(lookahead_of(options, true) == 60);
}

TEST_CASE("training options that contradict the graph are refused") {
  const KnowledgeGraph graph = make_graph(5, 1, {{0, 0, 1}});
  TrainingOptions options;
  CHECK_NOTHROW(options.check(graph));
  options.runner.negatives = {.per_side = 5, .sharing = NegativeSharing::batch};
  CHECK_NOTHROW(options.check(graph));
  options.runner.negatives.per_side = 6;
  CHECK_THROWS_WITH(options.check(graph),
                    Catch::Matchers::Contains("6 different shared negatives of a graph with 5 entities"));
  CHECK(options.fit(graph) ==
        "6 different shared negatives, and the graph has 5 entities: all are negatives");
  CHECK(options.runner.negatives.per_side == 5);
  CHECK_NOTHROW(options.check(graph));
  CHECK_FALSE(options.fit(graph));
  options.runner.negatives = {.per_side = 6};
  CHECK_FALSE(options.fit(graph));
  options = {};
  options.schedule.patience = 1;
  CHECK_THROWS_AS(options.check(graph), lapse::ConfigurationError);
  options.schedule = {.plateau_decay = 0.5};
  CHECK_THROWS_AS(options.check(graph), lapse::ConfigurationError);
}

TEST_CASE("options are read from a file, and those of the command line win") {
  const lapse::test::TemporaryDirectory directory;
  const std::string file = directory.write(
      "recipe", "# A recipe.\nloss = softmax\nnegatives = 7\nshared-negatives = true\nmode=classic\n");
  const auto options = parse("--config " + file + " --negatives 9");
  CHECK(options.training.runner.loss.kind == LossKind::softmax);
  CHECK(options.training.runner.negatives.per_side == 9);
  CHECK(options.training.runner.negatives.sharing == NegativeSharing::batch);
  CHECK(options.training.runner.mode == TrainingMode::classic);
  CHECK_THROWS_WITH(parse("--config " + directory.write("unknown", "los = softmax\n")),
                    Catch::Matchers::Contains("unknown:1: there is no option 'los' (did you mean 'loss'"));
  const auto check_refused = [&](const std::string& text, const std::string& words) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse("--config " + directory.write("bad", text)), CLI::ParseError);
    CHECK_THROWS_WITH(parse("--config " + (directory / "bad")), Catch::Matchers::Contains(words));
  };
  check_refused("# A comment.\n\nrate = 0\n", "bad:3: --rate: ");
  check_refused("loss = softmax\nnegatives = many\n", "bad:2: ");
  check_refused("reciprocal = perhaps\n", "bad:1: ");
  check_refused("rate = 0.1\nrate = 0.2\n", "bad:2: rate is set in line 1 already");
  check_refused("[training]\nrate = 0.1\n",
                "bad:1: '[training]' sets no option, expected a line `name = value`");
  check_refused("epochs = 2\nx\n", "bad:2: 'x' sets no option");
  check_refused("random-graph = [10,\n", "bad:1: 'random-graph = [10,' sets no option");
  // Like some editors write it.
  const auto marked = parse("--config " + directory.write("marked",
                                                          "\xEF\xBB\xBF"
                                                          "negatives = 7\r\nepochs = 1\r\n"));
  CHECK(marked.training.runner.negatives.per_side == 7);
  CHECK_THROWS_WITH(parse("--config " + directory.write("marked",
                                                        "\xEF\xBB\xBF"
                                                        "los = softmax\n")),
                    Catch::Matchers::Contains("marked:1: there is no option 'los'"));
  // Options in a file count as given.
  CHECK_THROWS_WITH(parse("--config " + directory.write("vain", "margin = 3\n")),
                    Catch::Matchers::Contains("--margin applies only with --model transe"));
}
