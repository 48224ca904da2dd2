// Columns of a table that options name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/io/text/line_reader.hpp"

namespace lapse::io {

// Whether one of the columns has a name, and not only its number from 1: the first line has names then.
bool has_column_names(const std::vector<std::string>& columns);

// The position, from 0, of each column among the fields of the first line, by name or by number from 1.
// Throws FileError, at the line in the reader, for columns that it lacks.
std::vector<std::size_t> given_columns(const LineReader& reader, std::string_view line,
                                       std::span<const std::string_view> fields,
                                       const std::vector<std::string>& columns);

}  // namespace lapse::io
