// Reads eight bytes of what other ranks expose, without a message to them.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/host/host_doorbells.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/library/request_bag.hpp"
#include "lapse/transport/rma/remote_reads.hpp"

namespace lapse {

// Uses one passive-target window per exposed piece of memory. Reads are requests that are tested, so no
// thread waits. Over a network without remote memory access, a read completes once the other rank has entered
// MPI.
//
// Thread safety: one thread at a time. Takes the MPI lock to call MPI, except in functions that require it.
class MpiRemoteReads final : public RemoteReads {
 public:
  // test_limit: time limit of a window's test. bells: this host's; null if there are none.
  MpiRemoteReads(const MpiCommunicator& communicator, std::chrono::milliseconds test_limit,
                 HostDoorbells* bells)
      : communicator_(communicator), test_limit_(test_limit), bells_(bells) {}

  void set_handler(Handler handler) override { handler_ = std::move(handler); }
  // Makes a window and tests it: each rank reads from another one. The memory must not change during the call
  // nor move until free(). If it throws MpiError, the window is neither used again nor freed.
  std::uint32_t expose(std::span<const std::byte> memory) override LAPSE_EXCLUDES(mpi_role);
  void begin(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) override
      LAPSE_REQUIRES(progress_role) LAPSE_EXCLUDES(mpi_role);

  void advance() LAPSE_REQUIRES(mpi_role);
  // Passes completed reads to the handler; returns whether there were any.
  bool deliver() LAPSE_EXCLUDES(mpi_role);
  // True if no read is in flight or undelivered.
  bool idle() const { return requests_.empty() && finished_.empty(); }

  // Drops the reads in flight; returns their number.
  std::size_t abandon() LAPSE_REQUIRES(mpi_role);
  // Collective.
  void free() LAPSE_EXCLUDES(mpi_role);

 private:
  struct Reading {
    std::uint32_t slot;
    std::uint64_t tag;
  };

  const MpiCommunicator& communicator_;
  const std::chrono::milliseconds test_limit_;
  HostDoorbells* const bells_;
  std::vector<MPI_Win> windows_;
  Handler handler_;
  std::deque<std::uint64_t> values_;  // slots for results, with stable addresses
  std::vector<std::uint32_t> free_;
  MpiRequestBag<Reading> requests_;
  std::vector<Finished> finished_;
  std::vector<Finished> delivered_;
  bool closed_ = false;
};

}  // namespace lapse
