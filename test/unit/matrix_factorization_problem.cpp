// Training and held-out cells, and the errors of simple models on them.
#include "apps/matrix_factorization/problem.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "apps/matrix_factorization/baseline.hpp"
#include "apps/matrix_factorization/report.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse::apps;
using lapse::io::Cell;

TEST_CASE("a problem computes its mean and the cells of each row and column") {
  const FactorizationProblem problem = make_problem(3, 2, {{0, 0, 1}, {0, 1, 2}, {2, 1, 6}}, {{1, 0, 100}});
  CHECK(problem.mean == 3);
  CHECK(problem.row_counts == std::vector<std::uint32_t>{2, 0, 1});
  CHECK(problem.column_counts == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("problems without training cells or with cells outside are refused") {
  CHECK_THROWS_AS(make_problem(3, 2, {}, {}), lapse::UsageError);
  CHECK_THROWS_AS(make_problem(3, 2, {{3, 0, 1}}, {}), lapse::UsageError);
  CHECK_THROWS_AS(make_problem(3, 2, {{0, 0, 1}}, {{0, 2, 1}}), lapse::UsageError);
}

TEST_CASE("a seeded part of the cells is held out") {
  DataOptions options;
  options.zipf = {.rows = 100, .columns = 50, .cells = 20000};
  options.test_fraction = 0.25;
  const FactorizationProblem problem = load_problem(options);
  CHECK(problem.rows == 100);
  CHECK(problem.columns == 50);
  CHECK(problem.train.size() + problem.test.size() == 20000);
  CHECK(static_cast<double>(problem.test.size()) == Approx(5000).epsilon(0.05));
  CHECK(load_problem(options).test == problem.test);
  options.seed = 2;
  CHECK(load_problem(options).test != problem.test);
  options.test_fraction = 0;
  CHECK(load_problem(options).test.empty());
}

TEST_CASE("the ids of both rating files are rows and columns, in ascending order") {
  const lapse::test::TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("train", "4 5 6\n1 2 3\n");
  options.test_file = directory.write("test", "18446744073709551615 1 5\n0 2 5\n");
  const FactorizationProblem problem = load_problem(options);
  CHECK(problem.rows == 4);
  CHECK(problem.columns == 3);
  CHECK(problem.train == std::vector<Cell>{{2, 2, 6}, {1, 1, 3}});
  CHECK(problem.test == std::vector<Cell>{{3, 0, 5}, {0, 1, 5}});
  CHECK(problem.row_ids == std::vector<std::uint64_t>{0, 1, 4, 18446744073709551615U});
  CHECK(problem.column_ids == std::vector<std::uint64_t>{1, 2, 5});
  options.max_id = 8;
  CHECK_THROWS_WITH(load_problem(options),
                    Catch::Matchers::Contains("test:1:1: user id '18446744073709551615' out of range"));
}

TEST_CASE("a test file without ratings is refused") {
  const lapse::test::TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("train", "4 5 6\n");
  options.test_file = directory.write("test", "user item rating\n");
  CHECK_THROWS_WITH(load_problem(options), Catch::Matchers::Contains("test: contains no ratings"));
}

TEST_CASE("held-out ratings keep their rows and columns") {
  const lapse::test::TemporaryDirectory directory;
  std::string text;
  for (std::uint64_t i = 0; i < 1000; ++i)
    text += std::to_string(i % 100 << 50U) + " " + std::to_string(i / 10) + " 1\n";
  DataOptions options;
  options.train_file = directory.write("train", text);
  options.test_fraction = 0.99;
  const FactorizationProblem problem = load_problem(options);
  CHECK(problem.rows == 100);
  CHECK(problem.columns == 100);
  CHECK(problem.row_ids.back() == std::uint64_t{99} << 50U);
}

TEST_CASE("a generated matrix is refused before it takes more memory than there is") {
  DataOptions options;
  options.zipf.cells = 1'000'000'000'000'000;
  CHECK_THROWS_AS(load_problem(options), lapse::OutOfMemory);
  options.zipf.cells = 10;
  options.test_file = "file";
  CHECK_THROWS_AS(load_problem(options), lapse::ConfigurationError);
}

TEST_CASE("standard input can be one of the two files only") {
  DataOptions options;
  options.train_file = std::string("-");
  options.test_file = std::string("-");
  CHECK_THROWS_AS(load_problem(options), lapse::ConfigurationError);
}

TEST_CASE("the baselines are the mean and the regularized biases") {
  // One column: its bias and those of the rows depend on each other.
  const FactorizationProblem problem = make_problem(2, 1, {{0, 0, 4}, {1, 0, 2}}, {{0, 0, 5}, {1, 0, 0}});
  const Baselines baselines = compute_baselines(problem, 1, 50);
  CHECK(baselines.mean == Approx(std::sqrt((2 * 2 + 3 * 3) / 2.0)));
  // By symmetry the column's bias is 0 and the rows' are +-1 / (1 + 1).
  CHECK(baselines.biases == Approx(std::sqrt((1.5 * 1.5 + 2.5 * 2.5) / 2)));
  CHECK(compute_baselines(make_problem(1, 1, {{0, 0, 1}}, {})).biases == 0);
}

TEST_CASE("the biases solve their normal equations") {
  DataOptions options;
  options.zipf = {.rows = 30, .columns = 20, .cells = 400};
  const FactorizationProblem problem = load_problem(options);
  // After convergence, more rounds change nothing.
  CHECK(compute_baselines(problem, 2, 100).biases ==
        Approx(compute_baselines(problem, 2, 200).biases).epsilon(1e-9));
  CHECK(compute_baselines(problem, 1e12, 20).biases == Approx(compute_baselines(problem).mean).epsilon(1e-9));
}

TEST_CASE("what the user of rating files should know is reported once, on the first rank") {
  const lapse::test::TemporaryDirectory directory;
  std::vector<std::string> messages;
  lapse::io::ReaderGroup group;
  group.report_warning = [&](const std::string& message) { messages.push_back(message); };
  const auto load = [&](const std::string& train, const std::string& test) {
    messages.clear();
    DataOptions options;
    options.train_file = directory.write("train", train);
    options.test_file = directory.write("test", test);
    load_problem(options, group);
    return messages;
  };
  std::string train;
  std::string other;
  std::string half;
  for (int i = 0; i < 6000; ++i) {
    train += std::to_string(i) + " " + std::to_string(i % 7) + " 1\n";
    other += std::to_string(i) + " " + std::to_string(i % 7 + 1) + " 1\n";
    half += std::to_string(i) + " " + std::to_string(i % 7 + i % 2) + " 1\n";
  }
  CHECK(load(train, other).empty());
  REQUIRE(load(train, "3 3 1\n1 1 5\n").size() == 1);
  CHECK_THAT(messages[0], Catch::Matchers::EndsWith("test: 2 of 2 ratings are training ratings, too: what is "
                                                    "measured with them is not what is held out"));
  REQUIRE(load(train, half).size() == 1);
  CHECK_THAT(messages[0], Catch::Matchers::Contains("2048 of 4096 ratings that were looked at are"));
  REQUIRE(load("a,b,c\n1,2,3\n", "1 1 1\n").size() == 1);
  CHECK_THAT(messages[0], Catch::Matchers::Contains("train: the header names"));
  group.is_first = false;
  CHECK(load(train, train).empty());
}

TEST_CASE("users and items may have names, in files with any columns") {
  const lapse::test::TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("train", "when;item;user\n3;jazz;eve\n4;rock;ada\n");
  options.test_file = directory.write("test", "when;item;user\n5;jazz;bob\n");
  options.columns = {"user", "item", "when"};
  const FactorizationProblem problem = load_problem(options);
  REQUIRE(problem.row_names.size() == 3);
  CHECK(problem.row_names.name(1) == "bob");
  CHECK(problem.column_names.name(0) == "jazz");
  CHECK(problem.row_ids.empty());
  CHECK(problem.train == std::vector<lapse::io::Cell>{{2, 0, 3}, {0, 1, 4}});
  CHECK(problem.test == std::vector<lapse::io::Cell>{{1, 0, 5}});
  const std::string text = lapse::apps::describe_data(problem);
  CHECK_THAT(text, Catch::Matchers::Contains("train: separated by semicolons; user: column 3 (user)"));
  CHECK_THAT(text, Catch::Matchers::Contains("3 users with names, from 'ada' to 'eve'"));
  CHECK_THAT(text, Catch::Matchers::Contains("2 ratings to train on, from 3 to 4, mean 3.5000; 1 held out"));
  CHECK_THAT(text, Catch::Matchers::Contains("user 'eve', item 'jazz': 3"));
}

TEST_CASE("a rating that equals the least positive one is kept, also where floats round down") {
  const lapse::test::TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("ratings", "1\t1\t4.1\n1\t2\t4.0\n2\t1\t0.7\n");
  options.test_fraction = 0;
  options.positive_from = 4.1;
  CHECK(load_problem(options).train.size() == 1);
  options.positive_from = 0.7;
  CHECK(load_problem(options).train.size() == 3);
}

TEST_CASE("ratings below the least positive one are left out, after the choice of the held-out ones") {
  DataOptions options;
  options.zipf = {.rows = 100, .columns = 50, .cells = 5000};
  const FactorizationProblem all = load_problem(options);
  options.positive_from = 0.5;
  const FactorizationProblem positive = load_problem(options);
  const auto kept = [](std::vector<Cell> cells) {
    std::erase_if(cells, [](const Cell& cell) { return cell.value < 0.5F; });
    return cells;
  };
  CHECK(positive.train == kept(all.train));
  CHECK(positive.test == kept(all.test));
  CHECK(positive.left_out ==
        all.train.size() + all.test.size() - positive.train.size() - positive.test.size());
  CHECK(positive.left_out > 0);
  CHECK(describe(positive, {}).find("lower ratings are left out") != std::string::npos);
  CHECK(describe(all, {}).find("left out") == std::string::npos);
  const lapse::test::TemporaryDirectory directory;
  options.train_file = directory.write("train", "1 1 2\n1 2 3.5\n");
  options.test_fraction = 0;
  options.positive_from = 4;
  CHECK_THROWS_WITH(load_problem(options),
                    Catch::Matchers::Contains("no rating to train on is 4 or higher: the highest is 3.5"));
  options.positive_from = 3.5;
  CHECK(load_problem(options).train == std::vector<Cell>{{0, 1, 3.5F}});
}
