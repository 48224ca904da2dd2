#include "apps/checkpoint_tool/hdf5_file.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

std::unique_ptr<ArrayFile> make_hdf5_file(const std::string& path,
                                          const std::vector<ArrayDescription>& /*arrays*/) {
  throw UsageError(path + ": this program was built without HDF5: install libhdf5-dev and build it again");
}

}  // namespace lapse::apps
