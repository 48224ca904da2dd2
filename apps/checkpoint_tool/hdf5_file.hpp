// Arrays as an HDF5 file: hdf5_file.cpp if the library is found when the program is built, else
// hdf5_file_missing.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/checkpoint_tool/array_file.hpp"

namespace lapse::apps {

// Writes a data set for each array; a slash in its name begins a group. Throws UsageError without the
// library.
std::unique_ptr<ArrayFile> make_hdf5_file(const std::string& path,
                                          const std::vector<ArrayDescription>& arrays);

}  // namespace lapse::apps
