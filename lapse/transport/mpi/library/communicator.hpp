// A private duplicate of the user's communicator.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/making_report.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// The thread level of MPI. Throws MpiStateError if MPI cannot be used, or not by the calling thread.
int usable_thread_level();

// The ranks of an instance and the communicator for its messages and windows. Failing calls on it return
// error codes (MPI_ERRORS_RETURN), which check_mpi turns into exceptions.
//
// Thread safety: constant after construction; get() is used under lock().
class MpiCommunicator {
 public:
  // Collective. Duplicates `users`, any intracommunicator. Throws MpiStateError if MPI is not initialised or
  // is finalized, and for an intercommunicator or MPI_COMM_NULL.
  explicit MpiCommunicator(MPI_Comm users, const MakingReport& report = {});
  // Without free() the duplicate stays until MPI_Finalize: freeing it is collective.
  ~MpiCommunicator();
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  // Collective. Called once. Requires that nothing is in flight on the communicator.
  void free() LAPSE_REQUIRES(mpi_role);

  MPI_Comm get() const { return communicator_; }
  MpiLock& lock() const { return *lock_; }
  Rank rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  std::int32_t host_ranks() const { return host_ranks_; }
  // The lowest rank of each rank's host.
  const std::vector<std::int32_t>& hosts() const { return hosts_; }
  bool same_host(Rank other) const { return hosts_[other.index()] == hosts_[rank_.index()]; }
  // The ranks of this host, in rank order.
  MPI_Comm host() const { return host_; }
  // This process in MPI_COMM_WORLD.
  Transport::Job job() const { return job_; }
  const std::string& host_name() const { return host_name_; }
  // MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE.
  int thread_level() const { return thread_level_; }

 private:
  void duplicate(MPI_Comm users, const MakingReport& report) LAPSE_EXCLUDES(mpi_role);
  void find_host() LAPSE_EXCLUDES(mpi_role);

  int thread_level_;
  MpiLock* lock_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Comm host_ = MPI_COMM_NULL;
  Transport::Job job_;
  Rank rank_;
  std::int32_t ranks_ = 0;
  std::int32_t host_ranks_ = 0;
  std::vector<std::int32_t> hosts_;
  std::string host_name_;
};

}  // namespace lapse
