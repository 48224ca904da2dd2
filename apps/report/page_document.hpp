// A page that needs no other file.
#pragma once

#include <string>
#include <string_view>

namespace lapse::apps {

// The HTML document with the style of reports, for wide and narrow windows, for the light and the dark
// scheme, and for printing. `title` is a text, `body` is HTML.
std::string page_document(std::string_view title, std::string_view body);

}  // namespace lapse::apps
