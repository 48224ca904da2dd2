// Memory that ranks of one host share, by MPI windows.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

// The windows of one group of ranks of a host. The lowest rank of the group allocates all of a window, so
// that its bytes are adjacent; which rank a page is near to is decided by the rank that touches it first.
//
// Thread safety: none; the MPI lock is taken where MPI is called.
class MpiSharedWindows {
 public:
  // Takes a communicator of at least two ranks of one host, which stays the caller's (for one rank alone the
  // library takes memory from the heap, which is not zeroed), or MPI_COMM_NULL: no memory then.
  MpiSharedWindows(MPI_Comm group, MpiLock& lock) : group_(group), lock_(&lock) {}

  // Collective over the group. Zeroed memory from a page boundary on, mapped until free(); the same number of
  // bytes on every rank. No page of it exists before it is touched, and the kernel kills a process that
  // touches one for which there is no memory. Throws MpiError when the MPI library cannot make such windows,
  // on every rank of the group, and OutOfMemory when the file system has less room, or a rank no addresses
  // for it: asking the library for more than that would leave the other ranks waiting indefinitely. The
  // messages name remedies.
  std::byte* allocate(std::size_t bytes) LAPSE_EXCLUDES(mpi_role);
  // Collective over the group. Whether it is so on every rank of it. Throws MpiError.
  bool all_have(bool mine) const LAPSE_EXCLUDES(mpi_role);
  // Collective over the group.
  void free() LAPSE_EXCLUDES(mpi_role);

  // Free bytes in the file system in which such windows are stored.
  static std::size_t free_bytes();
  static std::string directory();

 private:
  struct Room {
    std::size_t free_bytes;  // the least over the group
    bool has_addresses;      // on every rank of the group
  };
  Room agree_on_room(std::size_t bytes) const LAPSE_EXCLUDES(mpi_role);

  MPI_Comm group_;
  MpiLock* lock_;
  std::vector<MPI_Win> windows_;
};

}  // namespace lapse
