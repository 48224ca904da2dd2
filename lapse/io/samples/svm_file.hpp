// Files of labelled samples in the format of LibSVM and liblinear.
#pragma once

#include <cstdint>
#include <optional>

#include "lapse/core/export.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/samples/sparse_samples.hpp"

namespace lapse::io {

// The number of the first feature in a file.
enum class FirstFeature : std::uint8_t {
  zero,
  one,
  found,  // zero if any sample has a feature 0, else one
};

struct SvmFileOptions {
  FirstFeature first_feature = FirstFeature::found;
  // Samples to keep; the others are only counted.
  DocumentPart part = {};
};

struct SvmFile {
  SparseSamples samples;
  FirstFeature first_feature = FirstFeature::one;  // zero or one
};

// Reads a file, plain or compressed, or standard input (the path "-"). A sample is a line `label
// feature:value feature:value ...`, separated by blanks or tabs, with the features in ascending order;
// `qid:number` may follow the label, and is ignored. Features that are not in the line are 0. `#` begins a
// comment; blank lines are ignored. Values are rounded to the nearest float. Every part reads the whole file.
//
// Throws FileError with line and column for: a label or value that is not a finite number, or is too large; a
// field without `:`; a feature that is no integer or above 2^32 - 3; a feature 0 where the first one is one;
// features that repeat or descend; a qid that is no integer, or after a feature; and whatever LineReader
// reports; without a line for a file without samples. Throws UsageError if index + width of the part exceeds
// count, or count is 0; OutOfMemory, with the line.
LAPSE_EXPORT SvmFile read_svm_file(const Input& input, const SvmFileOptions& options = {});

}  // namespace lapse::io
