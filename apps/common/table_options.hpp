// Options of data files that are tables.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace lapse::apps {

// Which columns are read: names or numbers, separated by commas. `meanings`: of the columns, in order; the
// last may be left out if `least` is less than their number.
CLI::Option* add_columns(CLI::App& app, const std::string& option, std::vector<std::string>& columns,
                         const std::vector<std::string>& meanings, std::size_t least);

// --separator: the text that separates columns; empty: found.
CLI::Option* add_separator(CLI::App& app, std::string& separator);

}  // namespace lapse::apps
