// Texts of others in pages and pictures.
#pragma once

#include <string>
#include <string_view>

namespace lapse::apps {

// The text as content, or as an attribute's value in double quotes, of HTML and of SVG: valid UTF-8, and of
// XML's characters only.
std::string html_text(std::string_view text);

// The text as UTF-8: a replacement character for each byte that is not.
std::string replaced_utf8(std::string_view text);

}  // namespace lapse::apps
