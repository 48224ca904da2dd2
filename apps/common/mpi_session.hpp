// MPI for the lifetime of a program.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/common/given_descriptors.hpp"
#include "lapse/core/option_sources.hpp"

namespace lapse::apps {

// The constructor initialises MPI with the settings and the thread level that a parameter server needs, and
// blocks signals that ask a job to stop; the destructor finalizes MPI. One per process, in main.
class MpiSession {
 public:
  MpiSession(int& argument_count, char**& arguments);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  // The rank in MPI_COMM_WORLD.
  std::int32_t rank() const { return rank_; }
  // Collective over MPI_COMM_WORLD. Returns the lowest rank on which `condition` holds.
  std::optional<std::int32_t> lowest_rank_where(bool condition) const;
  // The descriptors open before MPI_Init.
  const GivenDescriptors& given_descriptors() const { return given_descriptors_; }
  // The number of ranks of MPI_COMM_WORLD on this host.
  std::int32_t host_ranks() const { return host_ranks_; }
  // The options file read by rank 0.
  const OptionsFile& options_file() const { return options_file_; }

 private:
  GivenDescriptors given_descriptors_;
  int rank_ = 0;
  int host_ranks_ = 1;
  OptionsFile options_file_;
};

}  // namespace lapse::apps
