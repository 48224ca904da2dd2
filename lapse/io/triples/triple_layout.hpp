// How the lines of a triple file are divided into subject, relation and object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/triples/triple_file.hpp"

namespace lapse::io {

// What a file's first line and the options determine for all lines.
struct TripleLayout {
  std::string separator = {};                     // TableFields
  bool is_n_triples = false;                      // then nothing else applies
  std::size_t columns = 3;                        // required of every line
  std::array<std::size_t, 3> positions{0, 1, 2};  // of subject, relation and object
  bool has_header = false;
  std::uint64_t first_offset = 0;  // of the first line
};

// Throws FileError, at the line in the reader, for columns that the line lacks.
TripleLayout find_triple_layout(const LineReader& reader, std::string_view first_line, std::uint64_t offset,
                                const TableFormat& format);

// Parses a line of N-Triples (W3C 2014): IRIs without their brackets, blank nodes with `_:`, literals with
// their quotes and what follows them. Throws FileError with line and column.
NamedTriple parse_n_triple(const LineReader& reader, std::string_view line);

}  // namespace lapse::io
