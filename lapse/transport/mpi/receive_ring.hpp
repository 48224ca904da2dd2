// The part of MpiTransport that receives eager messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/transport_settings.hpp"

namespace lapse {

// A ring of receives from any source, posted ahead and reposted in the same order.
//
// MPI matches messages to receives in posting order, and the messages of one sender in sending order. So the
// ring holds a sender's messages in sending order, and taking them only from the head keeps that order (I6).
//
// Thread safety: none; all functions are called by the holder of the MPI lock.
class MpiReceiveRing {
 public:
  struct Message {
    Rank from;
    std::span<const std::byte> bytes;  // Begins at a 64-byte boundary. Valid until the next test().
  };

  // Posts `buffers` receives for messages of at most `bytes`.
  MpiReceiveRing(MPI_Comm communicator, std::size_t buffers, std::size_t bytes) LAPSE_REQUIRES(mpi_role);

  std::size_t bytes() const { return requests_.size() * stride_bytes_; }

  // Whether the message at the head has arrived; sets `message` if so. Reposts the receive of the previously
  // taken message. (Not an optional: copying one just written costs more than the rest of the function.)
  bool test(Message& message) LAPSE_REQUIRES(mpi_role);

  // Cancels all receives and empties the object; returns the number of messages that had arrived.
  std::size_t cancel() LAPSE_REQUIRES(mpi_role);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  std::byte* buffer(std::size_t index) const { return memory_.get() + index * stride_bytes_; }
  void post(std::size_t index) LAPSE_REQUIRES(mpi_role);

  const MPI_Comm communicator_;
  const std::size_t buffer_bytes_;
  const std::size_t stride_bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
  std::vector<MPI_Request> requests_;
  std::size_t head_ = 0;
  // The buffer before the head while its message is in use.
  std::optional<std::size_t> taken_;
};

}  // namespace lapse
