#include "apps/report/label_places.hpp"

#include <algorithm>
#include <array>

namespace lapse::apps {

namespace {

constexpr double kLabelGap = 6;  // between a point and its label

}  // namespace

void LabelPlaces::block(double x, double y, double radius) {
  marks_.push_back({x - radius, y - radius, x + radius, y + radius});
}

std::optional<LabelBox> LabelPlaces::place(double x, double y, double width, double height) {
  const double middle = y - height / 2;
  const std::array boxes{
      LabelBox{x + kLabelGap, middle, x + kLabelGap + width, middle + height},
      LabelBox{x - kLabelGap - width, middle, x - kLabelGap, middle + height},
      LabelBox{x - width / 2, y - kLabelGap - height, x + width / 2, y - kLabelGap},
      LabelBox{x - width / 2, y + kLabelGap, x + width / 2, y + kLabelGap + height},
      LabelBox{x + kLabelGap / 2, y - kLabelGap / 2 - height, x + kLabelGap / 2 + width, y - kLabelGap / 2},
      LabelBox{x + kLabelGap / 2, y + kLabelGap / 2, x + kLabelGap / 2 + width, y + kLabelGap / 2 + height},
      LabelBox{x - kLabelGap / 2 - width, y - kLabelGap / 2 - height, x - kLabelGap / 2, y - kLabelGap / 2},
      LabelBox{x - kLabelGap / 2 - width, y + kLabelGap / 2, x - kLabelGap / 2, y + kLabelGap / 2 + height}};
  for (const LabelBox& box : boxes) {
    if (!is_free(box, x, y)) continue;
    labels_.push_back(box);
    return box;
  }
  return std::nullopt;
}

bool LabelPlaces::is_free(const LabelBox& box, double x, double y) const {
  if (!area_.contains(box)) return false;
  const auto is_own = [&](const LabelBox& mark) { return mark.covers({x - 0.1, y - 0.1, x + 0.1, y + 0.1}); };
  return std::ranges::none_of(labels_, [&](const LabelBox& label) { return label.covers(box); }) &&
         std::ranges::none_of(marks_,
                              [&](const LabelBox& mark) { return mark.covers(box) && !is_own(mark); });
}

}  // namespace lapse::apps
