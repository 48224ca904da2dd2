// Collective MPI calls that keep the MPI lock free while they wait for other ranks.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

// Called now and then during a long wait with its length so far.
using WhileWaiting = std::function<void(std::chrono::steady_clock::duration)>;

// Waits until the request is complete. Takes the lock only for each test; yields to other threads and
// processes and sleeps during long waits. `call` names the MPI call that began the request. Throws MpiError.
void wait_polled(MpiLock& lock, MPI_Request& request, const char* call,
                 const WhileWaiting& while_waiting = {}) LAPSE_EXCLUDES(mpi_role);

// Collective over `communicator`. When it returns, all ranks have arrived.
void barrier_polled(MpiLock& lock, MPI_Comm communicator, const WhileWaiting& while_waiting = {})
    LAPSE_EXCLUDES(mpi_role);

// Collective over `communicator`. Returns the byte string of each rank, in rank order. Throws UsageError, on
// every rank, if they exceed 2 GiB - 1 in total.
std::vector<std::vector<std::byte>> all_gather_polled(MpiLock& lock, MPI_Comm communicator,
                                                      std::span<const std::byte> mine,
                                                      const WhileWaiting& while_waiting = {})
    LAPSE_EXCLUDES(mpi_role);

// Collective over `communicator`. Returns the message of the lowest rank that has one, after that rank's
// number; empty if none has. The same on every rank.
std::string first_message_polled(MpiLock& lock, MPI_Comm communicator, std::string_view mine)
    LAPSE_EXCLUDES(mpi_role);

}  // namespace lapse
