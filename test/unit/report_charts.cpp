// Charts of reports: axes, lines, points and labels.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/report/axis.hpp"
#include "apps/report/chart_style.hpp"
#include "apps/report/label_places.hpp"
#include "apps/report/line_chart.hpp"
#include "apps/report/run_charts.hpp"
#include "apps/report/scatter_chart.hpp"
#include "apps/report/svg.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> labels_of(const Axis& axis) {
  std::vector<std::string> labels;
  for (const AxisTick& tick : axis.ticks()) labels.push_back(tick.label);
  return labels;
}

using Labels = std::vector<std::string>;

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

LineChart chart_with(std::vector<double> x, std::vector<double> y) {
  return {.title = "loss",
          .x_label = "epoch",
          .lines = {{.name = "run", .note = "", .number = 0, .x = std::move(x), .y = std::move(y)}}};
}

}  // namespace

TEST_CASE("ticks of an axis are round numbers, with the digits that differ") {
  CHECK(labels_of(Axis::over({1.53, 1.6}, {.max_ticks = 5})) ==
        Labels{"1.52", "1.54", "1.56", "1.58", "1.60"});
  CHECK(labels_of(Axis::over({0, 22569}, {.max_ticks = 5})) == Labels{"0", "5k", "10k", "15k", "20k", "25k"});
  CHECK(labels_of(Axis::over({1, 8}, {.max_ticks = 8, .integers = true, .rounds_out = false})).front() ==
        "1");
  CHECK(labels_of(Axis::over({1, 3}, {.max_ticks = 8, .integers = true, .rounds_out = false})) ==
        Labels{"1", "2", "3"});
  CHECK(labels_of(Axis::over({5}, {.max_ticks = 8, .integers = true, .rounds_out = false})) == Labels{"5"});
  CHECK(labels_of(Axis::over({0, 0.04}, {.max_ticks = 4, .percent = true})) ==
        Labels{"0\u00a0%", "1\u00a0%", "2\u00a0%", "3\u00a0%", "4\u00a0%"});
  CHECK(labels_of(Axis::over({6e-5, 1}, {.max_ticks = 6, .logarithmic_from = 100})) ==
        Labels{"1e-5", "1e-4", "0.001", "0.01", "0.1", "1"});
  CHECK(labels_of(Axis::over({0, 3e-7}, {.max_ticks = 3})) == Labels{"0", "1e-07", "2e-07", "3e-07"});
}

TEST_CASE("axes have positions within them for all values that are shown") {
  RandomEngine random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> values(random.below(4));
    for (double& value : values) {
      const double power = std::pow(10.0, 640 * random.uniform() - 320);
      value = (random.below(2) == 0 ? -1 : 1) * power;
      if (random.below(8) == 0)
        value = std::vector<double>{0, kNaN, kInfinity, -kInfinity, 1, 5e-324}[random.below(6)];
    }
    if (random.below(4) == 0 && !values.empty()) values.push_back(values.front());
    const AxisOptions options{.max_ticks = 5,
                              .integers = random.below(2) == 0,
                              .from_zero = random.below(2) == 0,
                              .percent = random.below(4) == 0,
                              .rounds_out = random.below(2) == 0,
                              .logarithmic_from = random.below(2) == 0 ? 100.0 : 0.0};
    const Axis axis = Axis::over(values, options);
    CHECK(axis.low() < axis.high());
    CHECK(axis.ticks().size() <= 21);
    for (const double value : values) {
      if (!Axis::is_shown(value)) continue;
      CHECK(axis.position(value) >= -1e-6);
      CHECK(axis.position(value) <= 1 + 1e-6);
    }
  }
}

TEST_CASE("a line has gaps where there are no values, and marks with their numbers") {
  const std::string svg = draw_lines(chart_with({1, 2, 3, 4, 5, 6}, {3, 2, kNaN, 1, kInfinity, 4}));
  CHECK(count_of(svg, "class=\"line c0\"") == 1);
  CHECK(count_of(svg, "class=\"line gap c0\"") == 1);
  CHECK(count_of(svg, "<title>") == 4);
  CHECK_THAT(svg, Contains("<title>run\nepoch 2: 2</title>"));
  CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
  const std::size_t path = svg.find("d=\"M", svg.find("class=\"line c0"));
  CHECK(count_of(svg.substr(path, svg.find('>', path) - path), "M") == 3);
}

TEST_CASE("charts of one epoch, of none, and of equal values") {
  const std::string one = draw_lines(chart_with({1}, {2.5}));
  CHECK(count_of(one, "class=\"line") == 0);
  CHECK(count_of(one, "<title>") == 1);
  CHECK_THAT(draw_lines(chart_with({}, {})), Contains("no values"));
  CHECK_THAT(draw_lines({.title = "x", .x_label = "epoch", .lines = {}}), Contains("no values"));
  CHECK_THAT(draw_lines(chart_with({1, 2}, {kNaN, kNaN})), Contains("no values"));
  for (const double value : {0.0, -3.0, 1e-300, 1e299, 7.0}) {
    const std::string svg = draw_lines(chart_with({1, 2, 3}, {value, value, value}));
    CHECK(count_of(svg, "class=\"line") == 1);
    CHECK_THAT(svg, !Contains("nan") && !Contains("inf\""));
  }
}

TEST_CASE("charts of many points have few marks") {
  std::vector<double> x(5000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const std::string svg = draw_lines(chart_with(x, x));
  CHECK(count_of(svg, "<title>") <= 42);
  CHECK(count_of(svg, "<title>") >= 40);
}

TEST_CASE("charts of runs: names, shares of remote accesses, and unknown series") {
  const auto run = [](const std::string& name, std::string_view history) {
    return parse_run_summary(R"({"history": )" + std::string(history) + "}", "f", name);
  };
  const std::vector<RunSummary> runs{run("a", R"([{"local_share": 0.75, "loss": 2, "seconds": 3}])"),
                                     run("b", R"([{"loss": 1}])")};
  const LineChart remote = chart_of(runs, "local_share", ChartBy::epoch);
  CHECK(remote.title == "remote share of accesses");
  REQUIRE(remote.lines.size() == 1);
  CHECK(remote.lines[0].y[0] == 0.25);
  const LineChart both = chart_of(runs, std::vector<std::string>{"loss", "seconds"}, ChartBy::epoch);
  REQUIRE(both.lines.size() == 3);
  CHECK(both.lines[1].name == "b: loss");
  CHECK(both.lines[2].number == 2);
  CHECK(shown_points(chart_of({runs[1]}, "loss", ChartBy::time)) == 0);
  CHECK(shown_points(both) == 1);
  CHECK_THROWS_WITH(chart_of(runs, std::vector<std::string>{"mrr"}, ChartBy::epoch),
                    Contains("'mrr'") && Contains("'loss'"));
  CHECK_THROWS_AS(chart_of({}, std::vector<std::string>{"mrr"}, ChartBy::epoch), ConfigurationError);
}

TEST_CASE("pictures are documents of their own, with names as texts") {
  LineChart chart = chart_with({1, 2}, {1, 2});
  chart.lines[0].name = "<b>&\"\xff";
  const std::string svg = svg_document(draw_lines(chart));
  CHECK_THAT(svg, Contains("<?xml") && Contains("<style>") && Contains("&lt;b&gt;&amp;&quot;\uFFFD") &&
                      !Contains("<b>"));
  CHECK(shortened("short", 200, 12) == "short");
  CHECK_THAT(shortened("a name that is much too long", 60, 12), Contains("\u2026"));
  CHECK(text_width(shortened(std::string(50, 'W'), 60, 12), 12) <= 60);
  CHECK(shortened("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 40, 12) == "\u00e4\u00f6\u2026");
}

TEST_CASE("labels have places that cover neither each other nor marks") {
  LabelPlaces places({0, 0, 100, 100});
  const auto first = places.place(50, 50, 40, 10);
  REQUIRE(first);
  CHECK(first->left > 50);
  const auto second = places.place(52, 50, 40, 10);
  REQUIRE(second);
  CHECK_FALSE(first->covers(*second));
  places.block(90, 90, 3);
  const auto corner = places.place(90, 90, 40, 10);
  REQUIRE(corner);
  CHECK(corner->right <= 100);
  CHECK_FALSE(places.place(50, 50, 200, 10));
}

TEST_CASE("points have one scale, and labels where there is a place") {
  ScatterChart chart{
      .title = "words", .x_label = "x", .y_label = "y", .points = {}, .groups = {"one", "two"}};
  for (int i = 0; i < 50; ++i)
    chart.points.push_back({.x = 0, .y = 0, .name = "same <place>", .group = 1, .is_labelled = true});
  chart.points.push_back({.x = 10, .y = 1, .name = "far", .group = std::nullopt, .is_labelled = true});
  chart.points.push_back({.x = kNaN, .y = 1, .name = "none", .group = 0, .is_labelled = true});
  const ScatterDrawing drawing = draw_points(chart);
  CHECK(drawing.labels >= 2);
  CHECK(drawing.labels < 20);
  CHECK(count_of(drawing.svg, "<title>") == 51);
  CHECK_THAT(drawing.svg, Contains("same &lt;place&gt;") && !Contains("nan"));
  for (const auto& points :
       {std::vector<ScatterPoint>{}, std::vector<ScatterPoint>{{.x = 3, .y = -2, .name = "one"}}}) {
    chart.points = points;
    CHECK_THAT(draw_points(chart).svg, !Contains("nan") && !Contains("inf"));
  }
}
