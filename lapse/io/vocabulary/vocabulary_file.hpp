// Vocabularies as text files: `name<TAB>count`, one name per line, in the order of ids from 0.
#pragma once

#include <string>

#include "lapse/core/export.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::io {

// Writes all names. The file appears under its name when complete; until then it is called <path>.tmp. Throws
// UsageError for a name that a line of text cannot hold (with a tab, line end or NUL byte in it, longer than
// a LineReader reads, or, at the start of the file, with a byte order mark), and FileError with the operating
// system's reason.
LAPSE_EXPORT void write_vocabulary(const std::string& path, const Vocabulary& vocabulary);

// Reads what write_vocabulary wrote, or a plain list of names, one per line, which get the count 0. The file
// may be compressed, or standard input ("-"). Throws FileError with the position for an empty line or name, a
// repeated name, a count that is not an integer from 0, and whatever LineReader reports. A file without lines
// gives an empty vocabulary.
LAPSE_EXPORT Vocabulary read_vocabulary(const Input& input);

}  // namespace lapse::io
