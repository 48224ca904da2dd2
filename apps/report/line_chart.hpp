// A chart of lines, as SVG.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/report/axis.hpp"

namespace lapse::apps {

// One line. A point with a coordinate that is no number, or too large to be shown, is a gap.
struct ChartLine {
  std::string name;
  std::string note;       // behind the name in the legend, such as the best value; may be empty
  std::size_t number;     // of its colour and shape
  std::vector<double> x;  // as long as y
  std::vector<double> y;
};

struct LineChart {
  std::string title;
  std::string x_label;
  AxisOptions x_axis = {.max_ticks = 8, .integers = false, .rounds_out = false};
  AxisOptions y_axis = {.max_ticks = 5};
  std::vector<ChartLine> lines;
};

// The number of points that are shown on the line that has the largest number of them.
std::size_t shown_points(const LineChart& chart);

// The chart with a legend of all lines, and at each mark a text with the point's numbers. Where there are
// many points some have no mark. One `svg` element; its colours are those of chart_style().
std::string draw_lines(const LineChart& chart);

}  // namespace lapse::apps
