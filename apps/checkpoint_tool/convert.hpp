// Converts checkpoints to arrays of other programs, and arrays to checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/checkpoint_tool/array_file.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse::apps {

struct ToArrays {
  std::vector<std::string> tables;  // empty: all
  ArrayFormat format = ArrayFormat::npy;
  std::string output;
  std::string keys;        // .npy: file for the keys of a sparse table
  std::string state;       // .npy: file for the state; may be empty
  bool with_state = true;  // other formats
  bool force = false;      // replaces existing files
};
// Writes rows in ascending order of keys. Throws CheckpointError; FileError for a file that cannot be written
// or exists already; UsageError for data that the format cannot express.
void convert_to_arrays(const CheckpointFolder& folder, const Manifest& manifest, const ToArrays& request);

struct FromArrays {
  std::string values;  // .npy files
  std::string keys;    // empty: a dense table
  std::string state;   // may be empty
  std::string table;
  std::string rule = "add";
  std::uint64_t step = 0;
  bool force = false;  // replaces a checkpoint of this step
};
// Writes a checkpoint of one table. Throws CheckpointError, and FileError for errors in the arrays.
void convert_from_arrays(const CheckpointFolder& folder, const FromArrays& request);

}  // namespace lapse::apps
