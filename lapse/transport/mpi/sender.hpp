// The sending half of MpiTransport.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/request_bag.hpp"
#include "lapse/transport/mpi/library/transport_settings.hpp"
#include "lapse/transport/mpi/library/wire.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/fifo.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

// Small packets leave as one eager message. A larger one is announced in the eager stream and follows in
// fragments, at most `fragments_in_flight` of them at once for each destination, in the order of the
// announcements.
//
// Thread safety: none; functions that call MPI are called by the holder of the MPI lock.
class MpiSender {
 public:
  MpiSender(const MpiCommunicator& communicator, const MpiTransportSettings& settings, BufferPool& pool);

  // Never waits. The buffer goes to the pool when MPI no longer needs it.
  void send(Rank to, PacketBuffer packet) LAPSE_REQUIRES(mpi_role);
  // The fragments of a packet that the caller announces in another stream to this rank.
  void send_fragments(Rank to, PacketBuffer packet) LAPSE_REQUIRES(mpi_role);

  // Finds out which sends are complete and begins the fragments that may follow.
  void advance() LAPSE_REQUIRES(mpi_role);

  bool empty() const { return requests_.empty() && unfinished_payloads_ == 0; }

  // Gives everything up after a failure; returns the number of packets not sent.
  std::size_t abandon() LAPSE_REQUIRES(mpi_role);

 private:
  static constexpr std::uint32_t kNoPayload = ~std::uint32_t{0};

  // What a request sends: an eager message with its buffer, or a fragment of a payload.
  struct Sending {
    PacketBuffer message;
    std::uint32_t payload = kNoPayload;
  };
  struct Payload {
    PacketBuffer buffer;
    Rank to;
    std::size_t next_offset = 0;
    std::size_t in_flight = 0;
  };
  struct Destination {
    Fifo<std::uint32_t> payloads;  // Those with fragments that have not begun.
    std::size_t in_flight = 0;
    std::size_t eager_bytes = 0;
  };

  void send_eager(Rank to, PacketBuffer message, mpi_wire::Kind kind) LAPSE_REQUIRES(mpi_role);
  void begin_fragments(Destination& destination) LAPSE_REQUIRES(mpi_role);
  void fragment_done(std::uint32_t index);

  const MPI_Comm communicator_;
  const std::size_t fragment_bytes_;
  const std::size_t fragments_in_flight_;
  BufferPool& pool_;

  MpiRequestBag<Sending> requests_;
  // Payloads keep their slot until all their fragments are sent; the slots are used again.
  std::vector<Payload> payloads_;
  std::vector<std::uint32_t> free_slots_;
  std::size_t unfinished_payloads_ = 0;
  std::vector<Destination> destinations_;
  // Destinations with payloads whose fragments have not all begun.
  std::vector<Rank> waiting_destinations_;
};

}  // namespace lapse
