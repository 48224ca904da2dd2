// The share of a file that one of several readers reads.
#pragma once

#include <cstdint>
#include <string>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Part `index` of `count`. Every line of a file belongs as a whole to exactly one part.
struct FilePart {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  bool is_whole() const { return count == 1; }
};

// How the lines of an input are divided into parts.
enum class PartScheme {
  // Plain regular files: part p has the lines that begin in [size p / count, size (p + 1) / count), and reads
  // nothing else.
  byte_ranges,
  // Compressed regular files cannot be read from the middle: every part decompresses the whole file and keeps
  // every count-th block of lines.
  line_blocks,
  // Standard input and pipes can be read only once, and only by the process that has them: part 0 has all
  // lines; the others have none and read nothing.
  first_part,
};

// The scheme for a path. Throws FileError if the path cannot be opened or is a directory. Opens no pipes.
LAPSE_EXPORT PartScheme part_scheme(const std::string& path);

// Whether reading a file in parts divides the work.
inline bool can_split(const std::string& path) {
  return part_scheme(path) == PartScheme::byte_ranges;
}

}  // namespace lapse::io
