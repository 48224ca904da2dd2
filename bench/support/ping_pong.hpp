// Plain MPI programs with the same payload as operations of the server.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace lapse::bench {

// The least payload of an operation: 8 bytes for each key, its value, and for a push or a localize an answer
// of 8 bytes for the whole message.
struct MessagePair {
  std::size_t request_bytes;
  std::size_t answer_bytes;
};

// Collective. Rank 0 sends a request to rank 1 and waits for the answer, `rounds` times. Returns the seconds
// on rank 0, and 0 on other ranks.
double ping_pong(MPI_Comm communicator, std::size_t rounds, const MessagePair& messages);

// Collective. The same with all requests in flight at once.
double pipelined_ping_pong(MPI_Comm communicator, std::size_t rounds, const MessagePair& messages);

// Collective over three or more ranks. A message from rank 0 to rank 2, from there to rank 1, from there to
// rank 0; the first two of `request_bytes`, the last of `answer_bytes`.
double triangle(MPI_Comm communicator, std::size_t rounds, const MessagePair& messages);

}  // namespace lapse::bench
