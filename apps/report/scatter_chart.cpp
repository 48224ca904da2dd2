#include "apps/report/scatter_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "apps/html/html_text.hpp"
#include "apps/report/axis.hpp"
#include "apps/report/chart_style.hpp"
#include "apps/report/label_places.hpp"
#include "apps/report/svg.hpp"

namespace lapse::apps {

namespace {

constexpr double kScatterWidth = 1040;
constexpr double kMinPlot = 320;  // the height
constexpr double kMaxPlot = 820;
constexpr double kScatterLeft = 66;
constexpr double kScatterEdge = 14;
constexpr double kLabelSize = 11;
constexpr double kLabelHeight = 13;
constexpr double kMaxLabelWidth = 180;
constexpr double kMarkRadius = 3;
constexpr double kBorder = 0.04;  // of the plot, without points
constexpr std::size_t kMaxTicks = 10;

// The lowest and the highest coordinate.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double size() const { return high > low ? high - low : 0; }
  double middle() const { return high >= low ? low + size() / 2 : 0; }
};

// Draws one chart; used once.
class ScatterPicture {
 public:
  explicit ScatterPicture(const ScatterChart& chart) : chart_(chart) {
    for (const ScatterPoint& point : chart.points)
      if (is_drawn(point)) points_.push_back(&point);
  }

  ScatterDrawing draw() {
    draw_groups();
    place();
    draw_axes();
    draw_marks(false);
    draw_marks(true);
    const std::size_t labels = draw_labels();
    const std::string size = fmt::format("width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\"",
                                         coordinate(kScatterWidth), coordinate(top_ + plot_height_ + 44));
    return {fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" "
                        "aria-label=\"{}: a chart of {} "
                        "points\" {}>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
                        html_text(chart_.title), points_.size(), size, body_),
            labels};
  }

 private:
  static bool is_drawn(const ScatterPoint& point) {
    return Axis::is_shown(point.x) && Axis::is_shown(point.y);
  }

  void draw_groups() {
    double x = kScatterEdge;
    if (chart_.groups.size() < 2) return;
    for (std::size_t group = 0; group < chart_.groups.size(); ++group) {
      const std::string name = shortened(chart_.groups[group], kMaxLabelWidth, 12);
      const double width = 14 + text_width(name, 12);
      if (x > kScatterEdge && x + width > kScatterWidth - kScatterEdge) {
        x = kScatterEdge;
        top_ += 18;
      }
      body_ += svg_mark(x + 4, top_ - 4, group, {});
      body_ += svg_text(x + 14, top_, name);
      x += width + 16;
    }
    top_ += 12;
  }

  // One scale: units of both axes have one length.
  void place() {
    Extent x;
    Extent y;
    for (const ScatterPoint* const point : points_) {
      x.add(point->x);
      y.add(point->y);
    }
    const double width = kScatterWidth - kScatterLeft - kScatterEdge;
    const double usable = 1 - 2 * kBorder;
    unit_ = x.size() > 0 ? usable * width / x.size() : 0;
    if (y.size() > 0 && (unit_ == 0 || unit_ * y.size() > usable * kMaxPlot))
      unit_ = usable * kMaxPlot / y.size();
    if (unit_ == 0) unit_ = width / 2;
    plot_height_ = std::clamp(unit_ * y.size() / usable, kMinPlot, kMaxPlot);
    low_x_ = x.middle() - width / 2 / unit_;
    high_x_ = x.middle() + width / 2 / unit_;
    low_y_ = y.middle() - plot_height_ / 2 / unit_;
    high_y_ = y.middle() + plot_height_ / 2 / unit_;
  }

  double across(double x) const { return kScatterLeft + (x - low_x_) * unit_; }
  double down(double y) const { return top_ + (high_y_ - y) * unit_; }

  void draw_axes() {
    const AxisOptions options{.max_ticks = static_cast<int>(kMaxTicks), .rounds_out = false};
    const double bottom = top_ + plot_height_;
    const double right = kScatterWidth - kScatterEdge;
    const Axis x_axis = Axis::over({low_x_, high_x_}, options);
    const Axis y_axis = Axis::over({low_y_, high_y_}, options);
    for (const AxisTick& tick : x_axis.ticks()) {
      body_ += fmt::format("<path class=\"grid\" d=\"M{} {}V{}\"/>\n", coordinate(across(tick.value)),
                           coordinate(top_), coordinate(bottom));
      if (across(tick.value) < right - 10)
        body_ +=
            svg_text(across(tick.value), bottom + 17, tick.label, " class=\"quiet\" text-anchor=\"middle\"");
    }
    for (const AxisTick& tick : y_axis.ticks()) {
      body_ += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", coordinate(kScatterLeft),
                           coordinate(down(tick.value)), coordinate(right));
      body_ += svg_text(kScatterLeft - 6, down(tick.value) + 4, tick.label,
                        " class=\"quiet\" text-anchor=\"end\"");
    }
    body_ += svg_text((kScatterLeft + right) / 2, bottom + 36, chart_.x_label, " text-anchor=\"middle\"");
    body_ +=
        fmt::format("<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                    coordinate(top_ + plot_height_ / 2), html_text(chart_.y_label));
  }

  // The first points are drawn last, over the others.
  void draw_marks(bool in_groups) {
    for (const ScatterPoint* const point : points_ | std::views::reverse) {
      if (point->group.has_value() != in_groups) continue;
      body_ += svg_mark(across(point->x), down(point->y), point->group.value_or(0), point->name,
                        in_groups ? " point" : " back");
    }
  }

  std::size_t draw_labels() {
    LabelPlaces places({kScatterLeft, top_, kScatterWidth - kScatterEdge, top_ + plot_height_});
    for (const ScatterPoint* const point : points_)
      if (point->is_labelled) places.block(across(point->x), down(point->y), kMarkRadius);
    std::size_t labels = 0;
    for (const ScatterPoint* const point : points_) {
      if (!point->is_labelled) continue;
      const std::string name = shortened(point->name, kMaxLabelWidth, kLabelSize);
      const auto box =
          places.place(across(point->x), down(point->y), text_width(name, kLabelSize), kLabelHeight);
      if (!box) continue;
      ++labels;
      // Beside the point, at the end of the box that is next to it.
      const double middle = (box->left + box->right) / 2;
      const double at = across(point->x);
      const std::string_view anchor = box->left > at ? "start" : box->right < at ? "end" : "middle";
      const double x = box->left > at ? box->left : box->right < at ? box->right : middle;
      body_ += svg_text(x, box->bottom - 3, name, fmt::format(" class=\"label\" text-anchor=\"{}\"", anchor));
    }
    return labels;
  }

  const ScatterChart& chart_;
  std::vector<const ScatterPoint*> points_;
  double top_ = 18;
  double plot_height_ = kMinPlot;
  double unit_ = 1;  // pixels
  double low_x_ = 0;
  double high_x_ = 0;
  double low_y_ = 0;
  double high_y_ = 0;
  std::string body_;
};

}  // namespace

ScatterDrawing draw_points(const ScatterChart& chart) {
  return ScatterPicture(chart).draw();
}

}  // namespace lapse::apps
