// File descriptors that a process was started with.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace lapse::apps {

// MPI opens files and connections of its own. A path such as /dev/fd/11 could name one of them; reading it
// would steal MPI's messages, or never end.
class GivenDescriptors {
 public:
  // Records the open descriptors. Call it before MPI is initialised.
  GivenDescriptors();

  // Throws FileError if a path names a descriptor of this process that it was not started with. `ranks`: if
  // more than one, the error explains what launchers do.
  void check(const std::vector<std::string>& paths, std::int32_t ranks) const;

 private:
  std::set<int> descriptors_;
};

}  // namespace lapse::apps
