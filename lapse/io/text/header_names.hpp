// Column names in the first line of a file.
#pragma once

#include <span>
#include <string_view>

namespace lapse::io {

// Whether the field is one of the names, which are in lower case: "User_ID" is "userid". Quotes and word
// separators are ignored.
bool is_header_name(std::string_view field, std::span<const std::string_view> names);

}  // namespace lapse::io
