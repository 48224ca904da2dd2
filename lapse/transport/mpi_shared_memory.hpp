// Memory that ranks of one host have in common, by MPI windows.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "lapse/transport/mpi_lock.hpp"

namespace lapse {

// The windows of one group of ranks of a host. The lowest rank of the group allocates all of a window, so
// that its bytes lie together; which rank a page is near to is decided by who touches it first.
//
// Thread safety: none; the MPI lock is taken where MPI is called.
class MpiSharedMemory {
 public:
  // Takes a communicator of at least two ranks of one host, which stays the caller's (for one rank alone the
  // library takes memory from the heap, which is not zeroed), or MPI_COMM_NULL: no memory then.
  MpiSharedMemory(MPI_Comm group, MpiLock& lock) : group_(group), lock_(&lock) {}

  // Collective over the group. Zeroed memory from a page boundary on, mapped until free(); the same number of
  // bytes on every rank. No page of it exists before somebody touches it, and the kernel kills who touches
  // one that there is no memory for. Throws MpiError when the MPI library cannot make such windows, on every
  // rank of the group, and OutOfMemory when the file system has less room, or a rank no addresses for it:
  // asking the library for more than that would leave the other ranks waiting for ever. The texts say what
  // helps.
  std::byte* allocate(std::size_t bytes);
  // Makes the pages of a small piece exist, without being killed when there is no room: throws OutOfMemory.
  static void populate(std::byte* memory, std::size_t bytes);
  // Collective over the group, without the MPI lock held.
  void free();

  // Free bytes in the file system that such windows lie in.
  static std::size_t free_bytes();
  static std::string directory();

 private:
  struct Room {
    std::size_t free_bytes;  // the least over the group
    bool has_addresses;      // on every rank of it
  };
  Room agree_on_room(std::size_t bytes) const;

  MPI_Comm group_;
  MpiLock* lock_;
  std::vector<MPI_Win> windows_;
};

}  // namespace lapse
