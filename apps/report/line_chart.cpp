#include "apps/report/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/html/html_text.hpp"
#include "apps/report/chart_style.hpp"
#include "apps/report/number_text.hpp"
#include "apps/report/svg.hpp"

namespace lapse::apps {

namespace {

constexpr double kChartWidth = 460;
constexpr double kPlotHeight = 180;
constexpr double kEdge = 8;
constexpr double kTitleSize = 14;
constexpr double kTextSize = 12;
constexpr double kTitleLine = 20;   // the baseline
constexpr double kLegendLine = 18;  // the height of a line of the legend
constexpr double kMarkSpace = 14;   // left of a name in the legend
constexpr double kMaxEntry = 210;   // width of a name in the legend
constexpr double kTickGap = 6;
constexpr double kBelowPlot = 42;  // tick labels and the name of the axis
constexpr std::size_t kMaxMarks = 40;
constexpr double kMarkDistance = 7;

// Draws one chart; used once.
class LineChartDrawing {
 public:
  explicit LineChartDrawing(const LineChart& chart)
      : chart_(chart),
        has_points_(shown_points(chart) > 0),
        x_axis_(Axis::over(shown_values(true), chart.x_axis)),
        y_axis_(Axis::over(shown_values(false), chart.y_axis)) {}

  std::string draw() {
    draw_legend();
    place();
    draw_grid();
    for (const ChartLine& line : chart_.lines) draw_path(line);
    for (const ChartLine& line : chart_.lines) draw_marks(line);
    const std::string label = fmt::format("{}: a chart of {} by {}", chart_.title, names(), chart_.x_label);
    const std::string size = fmt::format("width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\"",
                                         coordinate(kChartWidth), coordinate(height()));
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" aria-label=\"{}\" {}>\n"
        "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
        html_text(label), size, body_);
  }

 private:
  // The coordinates of all points that have both.
  std::vector<double> shown_values(bool is_x) const {
    std::vector<double> values;
    for (const ChartLine& line : chart_.lines) {
      for (std::size_t i = 0; i < line.x.size(); ++i)
        if (Axis::is_shown(line.x[i]) && Axis::is_shown(line.y[i]))
          values.push_back(is_x ? line.x[i] : line.y[i]);
    }
    return values;
  }

  std::string names() const {
    std::string names;
    for (const ChartLine& line : chart_.lines) names += (names.empty() ? "" : ", ") + line.name;
    return names;
  }

  void draw_legend() {
    body_ += svg_text(kEdge, kTitleLine, shortened(title(), kChartWidth - 2 * kEdge, kTitleSize),
                      " class=\"title\"");
    double x = kEdge;
    double y = kTitleLine + kLegendLine;
    for (const ChartLine& line : chart_.lines) {
      const std::string name = shortened(line.name, kMaxEntry, kTextSize);
      const std::string note = line.note.empty() ? "" : "\u00a0\u00a0" + line.note;
      const double width = kMarkSpace + text_width(name, kTextSize) + text_width(note, kTextSize);
      if (x > kEdge && x + width > kChartWidth - kEdge) {
        x = kEdge;
        y += kLegendLine;
      }
      body_ += svg_mark(x + 4, y - 4, line.number, line.name == name ? std::string() : line.name);
      body_ += fmt::format("<text x=\"{}\" y=\"{}\">{}<tspan class=\"quiet\">{}</tspan></text>\n",
                           coordinate(x + kMarkSpace), coordinate(y), html_text(name), html_text(note));
      x += width + kEdge;
    }
    top_ = y + kLegendLine;
  }

  std::string title() const {
    return chart_.title + (y_axis_.scale() == AxisScale::logarithmic ? " (logarithmic)" : "");
  }

  void place() {
    double widest = 0;
    for (const AxisTick& tick : y_axis_.ticks()) widest = std::max(widest, text_width(tick.label, kTextSize));
    left_ = kEdge + widest + kTickGap;
    const double last = x_axis_.ticks().empty() ? 0 : text_width(x_axis_.ticks().back().label, kTextSize);
    right_ = kChartWidth - std::max(kEdge, last / 2 + 2);
  }

  double height() const { return top_ + kPlotHeight + kBelowPlot; }
  double across(double x) const { return left_ + x_axis_.position(x) * (right_ - left_); }
  double down(double y) const { return top_ + (1 - y_axis_.position(y)) * kPlotHeight; }

  void draw_grid() {
    const double bottom = top_ + kPlotHeight;
    for (const AxisTick& tick : y_axis_.ticks()) {
      const double y = down(tick.value);
      body_ += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", coordinate(left_), coordinate(y),
                           coordinate(right_));
      body_ += svg_text(left_ - kTickGap, y + 4, tick.label, " class=\"quiet\" text-anchor=\"end\"");
    }
    body_ += fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>\n", coordinate(left_), coordinate(bottom),
                         coordinate(right_));
    for (const AxisTick& tick : x_axis_.ticks()) {
      if (!has_points_) break;
      const double x = across(tick.value);
      body_ += fmt::format("<path class=\"axis\" d=\"M{} {}v4\"/>\n", coordinate(x), coordinate(bottom));
      body_ += svg_text(x, bottom + 17, tick.label, " class=\"quiet\" text-anchor=\"middle\"");
    }
    body_ += svg_text((left_ + right_) / 2, bottom + 35, chart_.x_label,
                      " class=\"quiet\" text-anchor=\"middle\"");
    if (!has_points_)
      body_ += svg_text((left_ + right_) / 2, top_ + kPlotHeight / 2, "no values",
                        " class=\"quiet\" text-anchor=\"middle\"");
  }

  bool has_point(const ChartLine& line, std::size_t i) const {
    return std::isfinite(x_axis_.position(line.x[i])) && std::isfinite(y_axis_.position(line.y[i]));
  }

  // Points on both sides of a gap are joined by a thin line.
  void draw_path(const ChartLine& line) {
    std::string path;
    std::string gaps;
    std::string previous;
    bool is_drawing = false;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!has_point(line, i)) {
        is_drawing = false;
        continue;
      }
      std::string point = fmt::format("{} {}", coordinate(across(line.x[i])), coordinate(down(line.y[i])));
      if (is_drawing && point == previous) continue;
      if (!is_drawing && !previous.empty()) gaps += fmt::format("M{}L{}", previous, point);
      path += (is_drawing ? 'L' : 'M') + point;
      previous = std::move(point);
      is_drawing = true;
    }
    if (!gaps.empty())
      body_ += fmt::format("<path class=\"line gap {}\" d=\"{}\"/>\n", colour_class(line.number), gaps);
    if (path.find('L') != std::string::npos)
      body_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", colour_class(line.number), path);
  }

  // At up to kMaxMarks points, none close to the one before; and at the last point and those that no line
  // leads to.
  void draw_marks(const ChartLine& line) {
    const std::size_t points = line.x.size();
    const std::size_t step = std::max<std::size_t>(1, (points + kMaxMarks - 1) / kMaxMarks);
    double before_x = -kMarkDistance;
    double before_y = 0;
    for (std::size_t i = 0; i < points; ++i) {
      if (!has_point(line, i)) continue;
      const double x = across(line.x[i]);
      const double y = down(line.y[i]);
      const bool is_alone =
          (i == 0 || !has_point(line, i - 1)) && (i + 1 == points || !has_point(line, i + 1));
      const bool is_far = std::hypot(x - before_x, y - before_y) >= kMarkDistance;
      if (!(i % step == 0 && is_far) && i + 1 != points && !is_alone) continue;
      before_x = x;
      before_y = y;
      body_ += svg_mark(x, y, line.number, tip_of(line, i));
    }
  }

  std::string tip_of(const ChartLine& line, std::size_t i) const {
    const bool percent = chart_.y_axis.percent;
    return fmt::format("{}\n{} {}: {}{}", line.name, chart_.x_label, number_text(line.x[i]),
                       number_text(percent ? 100 * line.y[i] : line.y[i]), percent ? " %" : "");
  }

  const LineChart& chart_;
  bool has_points_;
  Axis x_axis_;
  Axis y_axis_;
  double top_ = 0;
  double left_ = 0;
  double right_ = 0;
  std::string body_;
};

}  // namespace

std::size_t shown_points(const LineChart& chart) {
  std::size_t points = 0;
  for (const ChartLine& line : chart.lines) {
    std::size_t own = 0;
    for (std::size_t i = 0; i < line.x.size(); ++i)
      own += Axis::is_shown(line.x[i]) && Axis::is_shown(line.y[i]) ? 1U : 0U;
    points = std::max(points, own);
  }
  return points;
}

std::string draw_lines(const LineChart& chart) {
  return LineChartDrawing(chart).draw();
}

}  // namespace lapse::apps
