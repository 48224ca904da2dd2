// MPI for the duration of a program.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/common/given_descriptors.hpp"
#include "lapse/core/option_sources.hpp"

namespace lapse::apps {

// Initialises MPI on construction, with the settings and the thread level that a parameter server needs, and
// finalizes it on destruction. Holds signals that ask a job to stop. One per process, in main.
class MpiSession {
 public:
  MpiSession(int& argument_count, char**& arguments);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  // Rank in MPI_COMM_WORLD.
  std::int32_t rank() const { return rank_; }
  // Collective over MPI_COMM_WORLD. The lowest rank on which `condition` holds.
  std::optional<std::int32_t> lowest_rank_where(bool condition) const;
  // The open files from before MPI.
  const GivenDescriptors& given_descriptors() const { return given_descriptors_; }
  // Ranks of MPI_COMM_WORLD on this host.
  std::int32_t host_ranks() const { return host_ranks_; }
  // The file of options that rank 0 has read.
  const OptionsFile& options_file() const { return options_file_; }

 private:
  GivenDescriptors given_descriptors_;
  int rank_ = 0;
  int host_ranks_ = 1;
  OptionsFile options_file_;
};

}  // namespace lapse::apps
