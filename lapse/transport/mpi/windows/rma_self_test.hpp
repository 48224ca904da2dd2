// Whether windows work between an instance's ranks, and how fast.
#pragma once

#include <chrono>
#include <string>

#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/windows/rma_window.hpp"
#include "lapse/transport/rma/rma_receive_ring_layout.hpp"

namespace lapse {

// Collective. Every rank puts bytes into its ring at its partner, gets them back until they are right,
// flushes, and notifies the partner, which checks its own memory. Makes no call that could wait indefinitely
// before that call has been seen to work. Returns what went wrong on this rank; empty if nothing. Throws
// MpiError. After a failure the window must be neither used nor freed.
std::string test_rma_window(const MpiCommunicator& communicator, const RmaReceiveRingLayout& layout,
                            MpiRmaWindow& window, std::chrono::milliseconds limit) LAPSE_EXCLUDES(mpi_role);

// Round-trip times in microseconds for `bytes` to another host and an empty answer, by message and by window;
// zero on ranks other than 0.
struct RmaTimes {
  double message = 0;
  double window = 0;
};

// Collective. Measures between rank 0 and its partner; the others return at once. Returns the best of several
// rounds.
RmaTimes time_rma_window(const MpiCommunicator& communicator, const RmaReceiveRingLayout& layout,
                         MpiRmaWindow& window, std::size_t bytes) LAPSE_EXCLUDES(mpi_role);

}  // namespace lapse
