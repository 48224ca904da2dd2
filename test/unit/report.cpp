// Reports of runs: what is read of summaries, tables and pages.
#include <cmath>
#include <string>
#include <vector>

#include "apps/common/command_words.hpp"
#include "apps/html/html_text.hpp"
#include "apps/report/command_options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/number_text.hpp"
#include "apps/report/result_files.hpp"
#include "apps/report/run_page.hpp"
#include "apps/report/run_summary.hpp"
#include "apps/report/run_tables.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using Numbers = std::vector<double>;

namespace {

// As the applications write them.
constexpr std::string_view kRatingSummary = R"({
  "command": "build/matrix_factorization 'my ratings.tsv' --rank 8 --epochs 3",
  "version": "0.1.0", "data": "3 x 2 matrix, 5 cells <all>", "ended": "2026-01-31 12:00 UTC",
  "best_epoch": 3, "best_test_rmse": 1.25, "workers": 2, "seconds_per_epoch": 0.5, "technique": "adaptive",
  "stale_seconds": null, "mean": 7.25,
  "history": [
    {"epoch": 1, "learning_rate": 0.03, "seconds": 0.5, "local_share": 0.75, "train_rmse": 1.5, "test_rmse": null},
    {"epoch": 2, "learning_rate": 0.02, "seconds": 0.25, "local_share": 1, "train_rmse": 1.375, "test_rmse": 1.5},
    {"epoch": 3, "learning_rate": 0.01, "seconds": 0.75, "local_share": 1, "train_rmse": 1.25, "test_rmse": 1.25}],
  "statistics": {"server": {"ranks": 2, "total": {"messages_sent": 4}}}
})";
constexpr std::string_view kTripleSummary = R"({"valid_mrr": 0.25, "history": [
  {"epoch": 1, "loss": 10.5, "seconds": 1},
  {"epoch": 2, "loss": 3.5, "seconds": 2, "valid": {"all": {"ranks": 4, "mrr": 0.25}}, "test": {"all": {"ranks": 0, "mrr": 0}}}
]})";

RunSummary run_of(std::string_view json, const std::string& name = "run") {
  return parse_run_summary(json, "file.json", name);
}

std::vector<std::string> names_of(const RunHistory& history) {
  std::vector<std::string> names;
  for (const RunSeries& series : history.series) names.push_back(series.name);
  return names;
}

// NaN as -1.
Numbers values_of(const RunHistory& history, std::string_view name) {
  const RunSeries* const series = history.find(name);
  REQUIRE(series != nullptr);
  Numbers values = series->values;
  for (double& value : values)
    if (std::isnan(value)) value = -1;
  return values;
}

}  // namespace

TEST_CASE("a summary's history becomes series; null and missing numbers are gaps") {
  const RunSummary run = run_of(kRatingSummary);
  CHECK(run.history.epochs == Numbers{1, 2, 3});
  CHECK(names_of(run.history) ==
        std::vector<std::string>{"learning_rate", "seconds", "local_share", "train_rmse", "test_rmse"});
  CHECK(values_of(run.history, "test_rmse") == Numbers{-1, 1.5, 1.25});
  CHECK(run.history.elapsed_seconds() == Numbers{0.5, 0.75, 1.5});
  CHECK(run.data == "3 x 2 matrix, 5 cells <all>");
  CHECK(run.results[0].name == "ranks");
  CHECK(run.results.back().name == "mean");
  CHECK(run.results.size() == 8);
}

TEST_CASE("numbers in objects of an epoch have the names of all of them") {
  const RunSummary run = run_of(kTripleSummary);
  CHECK(names_of(run.history) == std::vector<std::string>{"loss", "seconds", "valid all ranks",
                                                          "valid all mrr", "test all ranks", "test all mrr"});
  CHECK(values_of(run.history, "valid all mrr") == Numbers{-1, 0.25});
}

TEST_CASE("epochs are counted where they have no ascending numbers") {
  CHECK(run_of(R"({"history": [{"loss": 1}, {"loss": 2}]})").history.epochs == Numbers{1, 2});
  CHECK(run_of(R"({"history": [{"epoch": 0}, {"epoch": 5}]})").history.epochs == Numbers{0, 5});
  CHECK(run_of(R"({"history": [{"epoch": 4}, {"epoch": 4}]})").history.epochs == Numbers{1, 2});
  CHECK(run_of(R"({"history": [{"epoch": 4}, {}]})").history.epochs == Numbers{1, 2});
  CHECK(run_of(R"({"history": []})").history.epochs.empty());
  CHECK(run_of(R"({"loss": 1})").history.epochs.empty());
  const RunHistory missing =
      run_of(R"({"history": [{"seconds": 1}, {"loss": null}, {"seconds": 1}]})").history;
  CHECK(names_of(missing) == std::vector<std::string>{"seconds"});
  CHECK(missing.elapsed_seconds()[0] == 1);
  CHECK(std::isnan(missing.elapsed_seconds()[2]));
}

TEST_CASE("what is no summary is refused, with the name of the file") {
  const auto message_of = [](std::string_view json) -> std::string {
    try {
      run_of(json);
    } catch (const FileError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(message_of(""), Contains("file.json"));
  CHECK_THAT(message_of("[1]"), Contains("file.json") && Contains("not a JSON object"));
  CHECK_THAT(message_of(R"({"history": {}})"), Contains("file.json") && Contains("not an array"));
  CHECK_THAT(message_of(R"({"history": [{}, 3]})"), Contains("file.json") && Contains("entry 2"));
  CHECK_THAT(message_of(R"({"loss": NaN})"), Contains("file.json"));
  CHECK_THAT(message_of("{\"data\": \"\xff\"}"), Contains("file.json"));
  CHECK_THAT(message_of(kRatingSummary.substr(0, 300)), Contains("file.json"));
  CHECK_THROWS_WITH(read_run_summary("/no/such.json", "x"),
                    Contains("/no/such.json") && Contains("cannot be read"));
  CHECK_THROWS_AS(read_run_summary("/", "x"), FileError);
}

TEST_CASE("damaged summaries are read or refused") {
  RandomEngine random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string json(kRatingSummary);
    for (std::uint64_t i = 0; i <= random.below(4); ++i)
      json[random.below(json.size())] = static_cast<char>(random.below(256));
    try {
      run_page({run_of(json)});
    } catch (const Error&) {
    }
  }
  SUCCEED("no crash");
}

TEST_CASE("names say which number is better, and which are qualities") {
  for (const char* const name : {"loss", "best_test_rmse", "error", "test_log_loss", "perplexity"}) {
    INFO(name);
    CHECK(measure_of(name).better == Better::lower);
    CHECK(measure_of(name).is_quality);
  }
  for (const char* const name : {"test_auc", "test_ndcg_at_10", "test_map_at_10", "valid all mrr",
                                 "valid_hits_at_10", "likelihood", "held_out", "coherence"}) {
    INFO(name);
    CHECK(measure_of(name).better == Better::higher);
    CHECK(measure_of(name).is_quality);
  }
  for (const char* const name : {"best_epoch", "baseline_mean_rmse", "base_log_loss", "workers", "mean",
                                 "learning_rate", "relocations_per_second", "unseen_valid_triples"}) {
    INFO(name);
    CHECK(measure_of(name).better == Better::unknown);
    CHECK_FALSE(measure_of(name).is_quality);
  }
  CHECK(measure_of("seconds_per_epoch").better == Better::lower);
  CHECK(measure_of("words_per_second").better == Better::higher);
  CHECK_FALSE(measure_of("remote_share").is_quality);
}

TEST_CASE("names are texts for readers") {
  CHECK(readable_name("test_ndcg_at_10") == "test NDCG at 10");
  CHECK(readable_name("valid_mrr_seen_entities") == "valid MRR seen entities");
  CHECK(readable_name("train_rmse") == "train RMSE");
  CHECK(readable_name("") == "");
}

TEST_CASE("numbers have the digits that a reader needs") {
  CHECK(number_text(1.528858401993483) == "1.5289");
  CHECK(number_text(127542) == "127\u00a0542");
  CHECK(number_text(-1234567.8) == "-1\u00a0234\u00a0568");
  CHECK(number_text(8) == "8");
  CHECK(number_text(0) == "0");
  CHECK(number_text(5.889e-05) == "5.889e-05");
  CHECK(number_text(std::nan("")) == "-");
  CHECK(fixed_text(-0.001, 1) == "0.0");
}

TEST_CASE("commands are texts that a shell would read as the same words") {
  const std::vector<std::string> words{"a b", "", "it's", "--x=1", "$HOME", "back\\slash", "\"", "plain"};
  CHECK(split_command(joined_command(words)) == words);
  CHECK(joined_command(std::vector<std::string>{"a", "it's"}) == R"(a 'it'\''s')");
  CHECK(split_command("  ").empty());
  const CommandOptions options =
      options_of("/bin/train 'my file' --rate -3 --flag --set a=1 --set b=2 --name=x=y -v");
  CHECK(options.program == "train");
  REQUIRE(options.options.size() == 6);
  CHECK(options.find("")->value == "my file");
  CHECK(options.find("--rate")->value == "-3");
  CHECK(options.find("--flag")->value == "yes");
  CHECK(options.find("--set")->value == "a=1, b=2");
  CHECK(options.find("--name")->value == "x=y");
  CHECK(options_of("").program.empty());
}

TEST_CASE("texts of others are no markup, and always valid") {
  CHECK(html_text("<a href=\"x\">&") == "&lt;a href=&quot;x&quot;&gt;&amp;");
  CHECK(html_text("a\xff\x01z") == "a\uFFFD\uFFFDz");
  CHECK(html_text("gr\u00fc\u00df") == "gr\u00fc\u00df");
  const std::string page = run_page({run_of(kRatingSummary, "<script>alert(1)</script>")});
  CHECK_THAT(page, !Contains("<script") && Contains("&lt;script&gt;alert(1)"));
  CHECK_THAT(page, Contains("5 cells &lt;all&gt;") && Contains("my ratings.tsv"));
  const std::string series = run_page({run_of(R"({"<b>loss": 1, "history": [{"epoch": 1, "<b>loss": 2}]})")});
  CHECK_THAT(series, !Contains("<b>"));
}

TEST_CASE("the best number of several runs is marked where the name says which it is") {
  std::vector<RunSummary> runs{run_of(R"({"loss": 2, "auc": 0.5, "workers": 1, "mrr": 1})", "a"),
                               run_of(R"({"loss": 1, "auc": null, "workers": 4, "mrr": 1})", "b")};
  const std::string table = results_table(runs);
  CHECK_THAT(table, Contains("<td class=\"number best\">1 <small>best</small>"));
  CHECK(table.find("best\">2") == std::string::npos);
  CHECK(table.find("best\">4") == std::string::npos);
  CHECK(table.find("best\">0.5") == std::string::npos);  // there is no other one
  CHECK(table.find("best") == table.rfind("best") - std::string_view("best\">1 <small>").size());
  CHECK(options_table(runs).empty());
  runs[0].command = "p --epochs 3";
  runs[1].command = "p --epochs 4 --fast";
  CHECK_THAT(options_table(runs), Contains("<tr class=\"differs\"><th scope=\"row\"><code>--epochs"));
}

TEST_CASE("a page has the charts of runs side by side, also of runs without epochs") {
  const std::string page = run_page({run_of(kRatingSummary, "static"), run_of(kRatingSummary, "adaptive")});
  CHECK_THAT(page, Contains("<h1>2 runs of matrix_factorization</h1>"));
  CHECK_THAT(
      page, Contains("seconds of training") && Contains("remote share of accesses") && Contains("test RMSE"));
  CHECK_THAT(page, Contains("best 1.25 in epoch 3"));
  CHECK_THAT(page, !Contains("http://") || !Contains("src="));
  CHECK_THROWS_WITH(run_page({run_of("{}", "a"), run_of("{}", "a")}), Contains("two runs 'a'"));
  CHECK_THROWS_AS(run_page({}), ConfigurationError);
  const std::string empty = run_page({run_of("{}", "a")});
  CHECK_THAT(empty, Contains("0 epochs") && !Contains("<figure>"));
  CHECK_THAT(run_page({run_of(kTripleSummary, "a")}),
             !Contains(">test all MRR</text>") || Contains("Charts of other"));
}

TEST_CASE("an application writes its results with what was run on what") {
  const lapse::test::TemporaryDirectory directory;
  const ResultFiles files{.summary_json = directory / "run.json", .report = directory / "run.html"};
  files.create();
  CHECK(lapse::test::content_of(files.report).empty());
  Summary summary;
  summary.add("loss", 1.5, "loss");
  summary.add_json("history", R"([{"epoch": 1, "loss": 1.5}])");
  files.write(summary, "5 words \xff");
  const RunSummary run = read_run_summary(files.summary_json, "x");
  CHECK_THAT(run.command, Contains("test_report"));
  CHECK(run.data == "5 words \uFFFD");
  CHECK_FALSE(run.version.empty());
  CHECK_THAT(run.ended, Contains("UTC"));
  CHECK_THAT(lapse::test::content_of(files.report), Contains("test_report") && Contains("<svg"));
  CHECK_NOTHROW(ResultFiles().create());
  CHECK_THROWS_AS((ResultFiles{.summary_json = "/no/such/folder/x", .report = ""}.create()), FileError);
}
