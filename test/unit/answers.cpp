// Questions to trained models, with models written by hand.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/answers/best_rows.hpp"
#include "apps/answers/model_questions.hpp"
#include "apps/answers/query_answers.hpp"
#include "apps/answers/rating_questions.hpp"
#include "apps/model_files/named_rows.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/npy/npy_writer.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using lapse::test::TemporaryDirectory;

namespace {

std::vector<std::string> names_of(const std::vector<Scored>& answers) {
  std::vector<std::string> names;
  for (const Scored& answer : answers) names.push_back(answer.name);
  return names;
}

using Names = std::vector<std::string>;
using Query = std::vector<std::string_view>;

// Three users 5, 7, 9 and four items 10, 20, 30, 40, with two factors; the prediction is the mean 3, the
// biases and the product of factors.
std::string write_ratings(const TemporaryDirectory& directory) {
  const std::vector<float> rows{1, 0, 0, 1, 1, 1};
  const std::vector<float> columns{1, 0, 2, 0, 0, 3, -1, -1};
  const std::vector<float> row_biases{0, 0.5F, 0};
  const std::vector<float> column_biases{0, 0, 0, 0.25F};
  const std::vector<std::uint64_t> users{5, 7, 9};
  const std::vector<std::uint64_t> items{10, 20, 30, 40};
  io::write_npy<float>(directory / "m-rows.npy", {3, 2}, rows);
  io::write_npy<float>(directory / "m-columns.npy", {4, 2}, columns);
  io::write_npy<float>(directory / "m-row-biases.npy", {3}, row_biases);
  io::write_npy<float>(directory / "m-column-biases.npy", {4}, column_biases);
  io::write_npy<std::uint64_t>(directory / "m-row-ids.npy", {3}, users);
  io::write_npy<std::uint64_t>(directory / "m-column-ids.npy", {4}, items);
  ModelDescription description("matrix_factorization", "mean + ...");
  description.add("rank", std::uint64_t{2});
  description.add("rows", std::uint64_t{3});
  description.add("columns", std::uint64_t{4});
  description.add("mean", 3.0);
  for (const std::string_view side : {"row", "column"}) {
    const std::string name(side);
    description.add_file(name + "s", "other/m-" + name + "s.npy", "factors");
    description.add_file(name + "_biases", "m-" + name + "-biases.npy", "biases");
    description.add_file(name + "_ids", "m-" + name + "-ids.npy", "ids");
  }
  description.write(directory / "m");
  return directory / "m";
}

std::unique_ptr<const Question> question_of(std::string_view name, const std::string& model,
                                            const QuestionOptions& options = {}) {
  return make_question(name, ModelDescription::read(model), options);
}

// Answers a query with its first field; "bad" has no answer.
class EchoQuestion final : public Question {
 public:
  EchoQuestion(bool is_number, bool is_long) : is_number_(is_number), is_long_(is_long) {}
  std::string_view fields() const override { return "WORD"; }
  bool is_number() const override { return is_number_; }
  bool is_long() const override { return is_long_; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override {
    if (query[0] == "bad") throw QueryError("no word 'bad'");
    return {{is_number_ ? "" : std::string(query[0]), 0.5}};
  }

 private:
  bool is_number_;
  bool is_long_;
};

// What is printed, and the number of errors.
std::string printed(const EchoQuestion& question, const std::vector<std::string>& lines, bool json) {
  const TemporaryDirectory directory;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen((directory / "out").c_str(), "w"),
                                                            &std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(
      std::fopen((directory / "errors").c_str(), "w"), &std::fclose);
  QueryAnswers answers(question, 3, {.answers = out.get(), .errors = errors.get(), .json = json});
  answers.ask(lines);
  std::fflush(errors.get());
  return lapse::test::content_of(directory / "out") + lapse::test::content_of(directory / "errors") +
         std::to_string(answers.errors());
}

}  // namespace

TEST_CASE("the best rows come first; equal ones in their order, those that are no numbers last") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RowNames names("row", 6);
  const std::vector<double> scores{1, nan, 3, 1, -2, 3};
  CHECK(names_of(best_rows(scores, names, 10)) == Names{"2", "5", "0", "3", "4", "1"});
  CHECK(names_of(best_rows(scores, names, 3)) == Names{"2", "5", "0"});
  const std::vector<std::uint32_t> left_out{0, 0, 2, 4};
  CHECK(names_of(best_rows(scores, names, 10, left_out)) == Names{"5", "3", "1"});
  CHECK(best_rows({}, RowNames("row", 0), 3).empty());
}

TEST_CASE("products of rows are sums over all their numbers") {
  for (std::size_t length = 1; length < 40; ++length) {
    std::vector<float> left(length);
    std::vector<float> right(length);
    double expected = 0;
    for (std::size_t k = 0; k < length; ++k) {
      left[k] = static_cast<float>(k) - 3;
      right[k] = static_cast<float>(k * k) + 1;
      expected += static_cast<double>(left[k]) * static_cast<double>(right[k]);
    }
    CHECK(dot_of_rows(left, right) == expected);
  }
}

TEST_CASE("rows without names are numbers") {
  const RowNames names("topic", 3, 1);
  CHECK(names.find("1") == 0);
  CHECK(names.find("3") == 2);
  CHECK(names.name(2) == "3");
  for (const std::string_view unknown : {"0", "4", "", "1x", "-1", "18446744073709551616"})
    CHECK_FALSE(names.try_find(unknown));
  CHECK_THROWS_WITH(names.find("four"), "no topic 'four'");
}

TEST_CASE("ratings are predicted by mean, biases and factors") {
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  const auto rating = question_of("rating", model);
  CHECK(rating->answer(Query{"5", "20"}).front().value == 5);
  CHECK(rating->answer(Query{"7", "30"}).front().value == 6.5);
  CHECK(rating->answer(Query{"9", "40"}).front().value == 1.25);
  CHECK_THROWS_WITH(rating->answer(Query{"6", "40"}), "no user '6'");
  CHECK_THROWS_WITH(rating->answer(Query{"5", "41"}), "no item '41'");
  CHECK_THROWS_WITH(rating->answer(Query{"5"}), "1 field, expected 2: USER ITEM");
}

TEST_CASE("the best items and users, without those that have been seen") {
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  const std::string seen = directory.write("seen.tsv", "5\t20\t4\n9\t30\t5\n8\t10\t1\n5\t99\t2\n9\t20\t1\n");
  CHECK(names_of(question_of("items", model)->answer(Query{"5"})) == Names{"20", "10", "30", "40"});
  CHECK(names_of(question_of("items", model, {.count = 2, .seen = {seen}})->answer(Query{"5"})) ==
        Names{"10", "30"});
  CHECK(names_of(question_of("items", model, {.seen = {seen}})->answer(Query{"7"})) ==
        Names{"30", "10", "20", "40"});
  CHECK(names_of(question_of("users", model)->answer(Query{"30"})) == Names{"7", "9", "5"});
  CHECK(names_of(question_of("users", model, {.seen = {seen}})->answer(Query{"20"})) == Names{"7"});
}

TEST_CASE("similar rows by their cosine") {
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  const auto items = question_of("similar", model)->answer(Query{"10"});
  CHECK(names_of(items) == Names{"20", "30", "40"});
  CHECK(items[0].value == Approx(1));
  CHECK(items[1].value == Approx(0));
  CHECK(items[2].value == Approx(-std::sqrt(0.5)));
  CHECK(names_of(question_of("similar", model, {.of = "rows"})->answer(Query{"9"})) == Names{"5", "7"});
  CHECK_THROWS_WITH(question_of("similar", model, {.of = "entities"}), Contains("is a matrix_factorization"));
}

TEST_CASE("a model answers the questions of its kind") {
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  CHECK_THROWS_AS(question_of("tails", model), ConfigurationError);
  CHECK_THROWS_WITH(question_of("tails", model),
                    Contains("does not answer 'tails', expected: rating, items, users, similar"));
  CHECK_THAT(describe_model(ModelDescription::read(model)), Contains("rows (m-rows.npy): factors"));
}

TEST_CASE("files of seen ratings are read as the training data was, and must fit the model") {
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  ModelDescription description = ModelDescription::read(model);
  description.add("data_columns", std::string("who,what,stars"));
  description.write(model);
  const std::string seen = directory.write("seen.csv", "n,who,what,stars\n1,5,20,4\n2,5,10,4\n");
  CHECK(names_of(question_of("items", model, {.seen = {seen}})->answer(Query{"5"})) == Names{"30", "40"});
  const QuestionOptions other{.seen = {seen}, .format = {.columns = {"2", "1", "4"}}};
  CHECK_THROWS_WITH(question_of("items", model, other),
                    Contains("the model has no user and item of its ratings"));
}

TEST_CASE("no other output file takes the name of the description, and it can be removed") {
  CHECK_THROWS_AS(ModelDescription::check_paths("out/m", {"a", "out/./m.json"}), ConfigurationError);
  CHECK_NOTHROW(ModelDescription::check_paths("out/m", {"out/m", "m.json", ""}));
  CHECK_NOTHROW(ModelDescription::check_paths("", {".json"}));
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  ModelDescription::remove(model);
  CHECK_THROWS_AS(ModelDescription::read(model), FileError);
  CHECK_NOTHROW(ModelDescription::remove(model));
}

TEST_CASE("descriptions are found beside their files, and damaged ones are refused") {
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  const ModelDescription description = ModelDescription::read(model + ".json");
  CHECK(description.path_of("rows") == directory / "m-rows.npy");
  CHECK(description.count("rank") == 2);
  CHECK(description.number("mean") == 3);
  CHECK_FALSE(description.command().empty());
  CHECK_THROWS_WITH(description.count("mean"), Contains("m.json: the parameter mean is no integer from 0"));
  CHECK_THROWS_WITH(description.text("name"), Contains("has no parameter name"));
  CHECK_THROWS_WITH(description.path_of("words"), Contains("names no file of words"));
  CHECK_THROWS_WITH(ModelDescription::read(directory / "n"), Contains("n.json: does not exist"));

  const std::string text = lapse::test::content_of(model + ".json");
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    directory.write("cut.json", text.substr(0, size));
    CHECK_THROWS_WITH(ModelDescription::read(directory / "cut"), Contains("is no description of a model"));
  }
  directory.write("other.json", R"({"format": "lapse model 2"})");
  CHECK_THROWS_WITH(ModelDescription::read(directory / "other"),
                    Contains("has the format 'lapse model 2', expected 'lapse model 1'"));
}

TEST_CASE("files that do not fit the description are refused") {
  const TemporaryDirectory directory;
  const std::string model = write_ratings(directory);
  const std::vector<float> numbers(6);
  SECTION("another shape") {
    io::write_npy<float>(directory / "m-columns.npy", {3, 2}, numbers);
    CHECK_THROWS_WITH(question_of("rating", model), Contains("has 3 x 2 numbers, expected 4 x 2"));
  }
  SECTION("too few ids") {
    const std::vector<std::uint64_t> ids{1, 2};
    io::write_npy<std::uint64_t>(directory / "m-row-ids.npy", {2}, ids);
    CHECK_THROWS_WITH(question_of("rating", model), Contains("has 2 names, expected 3"));
  }
  SECTION("ids in disorder") {
    const std::vector<std::uint64_t> ids{1, 3, 2};
    io::write_npy<std::uint64_t>(directory / "m-row-ids.npy", {3}, ids);
    CHECK_THROWS_WITH(question_of("rating", model), Contains("not in ascending order"));
  }
  SECTION("a missing file") {
    std::remove((directory / "m-rows.npy").c_str());
    CHECK_THROWS_AS(question_of("similar", model, {.of = "rows"}), FileError);
  }
}

TEST_CASE("fields of queries are separated by tabs, or by blanks where there are none") {
  const EchoQuestion document(false, true);
  CHECK(query_fields("a  b\tc ", document) == Query{"a", "b", "c"});
  CHECK(query_fields("New York\tUSA", EchoQuestion(true, false)) == Query{"New York", "USA"});
  CHECK(query_fields(" \t ", document).empty());
  CHECK(query_fields("", document).empty());
  CHECK(query_fields(" New York ", EchoQuestion(false, false)) == Query{"New York"});
}

TEST_CASE("answers are printed in the order of queries, each as a line of text or JSON") {
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 200; ++i) {
    lines.push_back("q" + std::to_string(i));
    text += lines.back() + "\t" + lines.back() + "\t0.5\n";
  }
  CHECK(printed({false, false}, lines, false) == text + "0");
  CHECK(printed({true, false}, {"a\tb", "", "c"}, false) == "a\tb\t0.5\nc\t0.5\n0");
  CHECK(printed({false, true}, {"a b", "", "c"}, false) == "1\ta\t0.5\n3\tc\t0.5\n0");
  CHECK(printed({false, false}, {"a", "bad"}, false) == "a\ta\t0.5\nerror: query 2: no word 'bad'\n1");
  CHECK(printed({false, false}, {"a\tb", "bad"}, true) ==
        R"({"query":["a","b"],"answers":[{"name":"a","value":0.5}]})"
        "\n"
        R"({"query":["bad"],"error":"no word 'bad'"})"
        "\n1");
  CHECK(printed({true, false}, {"a"}, true) == R"({"query":["a"],"value":0.5})"
                                               "\n0");
  CHECK(printed({false, true}, {"a"}, true) == R"({"query":1,"answers":[{"name":"a","value":0.5}]})"
                                               "\n0");
}
