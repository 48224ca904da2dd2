// Parts of SVG pictures.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lapse::apps {

// An upper estimate of the width of a text, in pixels, for a font of `size` pixels.
double text_width(std::string_view text, double size);

// The text, or its beginning with an ellipsis, so that it is not wider.
std::string shortened(std::string_view text, double width, double size);

// A text element. `attributes`: more of them, with a blank in front.
std::string svg_text(double x, double y, std::string_view text, std::string_view attributes = {});

// A mark in the colour and the shape of `number`, with a text that is shown when it is pointed at, unless
// empty.
std::string svg_mark(double x, double y, std::size_t number, std::string_view tip,
                     std::string_view more_class = {});

// A coordinate, in tenths of a pixel.
std::string coordinate(double value);

// A picture of its own, to be written to a file: with the style of charts.
std::string svg_document(std::string_view picture);

}  // namespace lapse::apps
