// Memory that ranks of one host share through MPI windows.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

// The windows of one group of ranks of a host. The group's lowest rank allocates a whole window, so that its
// bytes are contiguous; a page is near the rank that touches it first.
//
// Thread safety: none. Takes the MPI lock to call MPI.
class MpiSharedWindows {
 public:
  // Takes a communicator of at least two ranks of one host, which the caller keeps, or MPI_COMM_NULL: no
  // memory then. (For a single rank the library takes memory from the heap, which is not zeroed.)
  MpiSharedWindows(MPI_Comm group, MpiLock& lock) : group_(group), lock_(&lock) {}

  // Collective over the group. Allocates page-aligned zeroed memory, mapped until free(); the same size on
  // every rank. No page exists before it is touched; the kernel kills a process that touches one when memory
  // is exhausted. Throws, on every rank of the group: MpiError if the MPI library cannot make such windows,
  // OutOfMemory if the file system lacks the space or a rank the addresses. (Asking the library for more
  // would leave the other ranks waiting indefinitely.) The messages name remedies.
  std::byte* allocate(std::size_t bytes) LAPSE_EXCLUDES(mpi_role);
  // Collective over the group. True if `mine` is true on every rank. Throws MpiError.
  bool all_have(bool mine) const LAPSE_EXCLUDES(mpi_role) { return least_of(mine ? 1 : 0) != 0; }
  // Collective over the group.
  void free() LAPSE_EXCLUDES(mpi_role);

  // Free bytes in the file system that stores such windows.
  static std::size_t free_bytes();
  static std::string directory();

 private:
  // Collective over the group. Throws MpiError.
  std::uint64_t least_of(std::uint64_t mine) const LAPSE_EXCLUDES(mpi_role);

  MPI_Comm group_;
  MpiLock* lock_;
  std::vector<MPI_Win> windows_;
};

}  // namespace lapse
