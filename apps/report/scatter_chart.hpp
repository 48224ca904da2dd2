// A chart of points with labels, as SVG.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lapse::apps {

struct ScatterPoint {
  double x;
  double y;
  std::string name;                      // shown when the point is pointed at
  std::optional<std::size_t> group = 0;  // its colour and shape; nullopt: grey, behind the other points
  bool is_labelled = false;              // with its name, where that covers no other label
};

struct ScatterChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ScatterPoint> points;
  std::vector<std::string> groups;  // their names, for the legend; one group needs none
};

struct ScatterDrawing {
  std::string svg;         // one element; its colours are those of chart_style()
  std::size_t labels = 0;  // that found a place
};

// Both axes have one scale: distances are those of the points. Points with a coordinate that is not finite
// are left out. Labels get their places in the order of the points.
ScatterDrawing draw_points(const ScatterChart& chart);

}  // namespace lapse::apps
