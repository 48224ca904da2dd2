// Names of columns in the first line of a file.
#pragma once

#include <span>
#include <string_view>

namespace lapse::io {

// Whether the field is one of the names, which have small letters alone: "User_ID" is "userid". Quotes and
// what joins words do not matter.
bool is_header_name(std::string_view field, std::span<const std::string_view> names);

}  // namespace lapse::io
