// The open files that a process was started with.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace lapse::apps {

// MPI opens files and connections of its own. Their numbers can be named like those of the caller
// (/dev/fd/11): reading one takes what another process sends to MPI, or never ends.
class GivenDescriptors {
 public:
  // What is open now: before MPI is initialised.
  GivenDescriptors();

  // Throws FileError when a path names an open file of this process by its number, and the process was not
  // started with it. `ranks`: with more than one, the error says what launchers do.
  void check(const std::vector<std::string>& paths, std::int32_t ranks) const;

 private:
  std::set<int> descriptors_;
};

}  // namespace lapse::apps
