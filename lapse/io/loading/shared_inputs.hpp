// Inputs that all ranks of a program need.
#pragma once

#include <string>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/loading/reader_group.hpp"

namespace lapse::io {

// Collective over the group. Returns for each path an input that every rank must read to its end, one after
// the other in the same order on all ranks:
//
// - Regular files: every rank reads for itself.
// - Inputs that can be read only once (is_stream): the first rank of the group reads, and the others get its
//   bytes; they need not have the path.
//
// Paths are equal on all ranks; empty ones are not checked. The bytes reach all ranks unchanged, so an error
// that one rank's reader finds in them is found by all.
//
// Throws FileError if the first rank cannot read a path, and if a rank lacks a file that the first rank has,
// or has it with another size; ConfigurationError if two paths are one stream. An error may occur on one rank
// only: the group's broadcast ends the others.
LAPSE_EXPORT std::vector<Input> shared_inputs(const std::vector<std::string>& paths,
                                              const ReaderGroup& group);

}  // namespace lapse::io
