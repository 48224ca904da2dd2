// How lines and points of a chart differ, in colour and in shape.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lapse::apps {

constexpr std::size_t kChartColours = 8;  // in order; the ninth line has the first again, and another shape

// CSS of the classes in the charts and of the custom properties with their colours, which have at least
// three times the contrast of the paper in the light and in the dark scheme.
std::string_view chart_style();

// The class with the colour of line or group `number`.
std::string colour_class(std::size_t number);
// The shape of a mark, as the data of an SVG path around 0, 0.
std::string_view mark_path(std::size_t number);

}  // namespace lapse::apps
