// Reading eight bytes at a time of what other ranks expose, without their protocol's help.
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
#include "lapse/transport/mpi_communicator.hpp"
#include "lapse/transport/mpi_request_bag.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// One window for each exposed piece of memory, passive target. Reads are requests that are tested, so nobody
// waits; over a network that cannot read by itself they are done when the other rank has entered MPI.
//
// Thread safety: none; all functions but expose, deliver and free are called with the MPI lock held.
class MpiRemoteReads {
 public:
  // test_limit: how long the test of a window may take.
  MpiRemoteReads(const MpiCommunicator& communicator, std::chrono::milliseconds test_limit)
      : communicator_(communicator), test_limit_(test_limit) {}

  // Collective, without the MPI lock held, while the memory does not change. Makes a window and tests it:
  // each rank reads from another one. Throws MpiError on every rank when it fails on one; that window is not
  // used again, and not freed. The memory stays where it is until free().
  std::uint32_t expose(std::span<const std::byte> memory);
  void set_handler(Transport::ReadHandler handler) { handler_ = std::move(handler); }

  void begin(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag);
  void advance();
  // Without the MPI lock held: hands on what has been read; returns whether there was anything.
  bool deliver();
  // Nothing under way, nothing read that has not been delivered.
  bool idle() const { return requests_.empty() && finished_.empty(); }

  // Gives up what is under way; returns how much that was.
  std::size_t abandon();
  // Collective, without the MPI lock held.
  void free();

 private:
  struct Reading {
    std::uint32_t place;
    std::uint64_t tag;
  };

  const MpiCommunicator& communicator_;
  const std::chrono::milliseconds test_limit_;
  std::vector<MPI_Win> windows_;
  Transport::ReadHandler handler_;
  std::deque<std::uint64_t> values_;  // places for results, which stay where they are
  std::vector<std::uint32_t> free_;
  MpiRequestBag<Reading> requests_;
  std::vector<Transport::FinishedRead> finished_;
  std::vector<Transport::FinishedRead> delivered_;
};

}  // namespace lapse
