// Columns of a table that options name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/text/line_reader.hpp"

namespace lapse::io {

// What a user says about a table.
struct TableFormat {
  // The columns that are read, each by its name in the first line, or each by its number from 1. Empty: the
  // usual ones.
  std::vector<std::string> columns = {};
  // As TableFields takes it. Empty: found in the first line.
  std::string separator = {};
};

// Whether the columns are names in the first line: not all of them are numbers from 1.
LAPSE_EXPORT bool has_column_names(const std::vector<std::string>& columns);

// The position, from 0, of each column among the fields of the first line: all by name, or all by number from
// 1. Throws FileError, at the line in the reader, for columns that it lacks, that occur twice, or whose name
// does.
LAPSE_EXPORT std::vector<std::size_t> given_columns(const LineReader& reader, std::string_view line,
                                                    std::span<const std::string_view> fields,
                                                    const std::vector<std::string>& columns);

}  // namespace lapse::io
