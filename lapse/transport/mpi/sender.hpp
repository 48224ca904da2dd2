// The sending part of MpiTransport.
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

// A small packet is sent as one eager message. A larger one is announced in the eager stream and follows in
// fragments, at most `fragments_in_flight` at once per destination, in announcement order.
//
// Thread safety: none; functions that call MPI are called by the holder of the MPI lock.
class MpiSender {
 public:
  MpiSender(const MpiCommunicator& communicator, const MpiTransportSettings& settings, BufferPool& pool);

  // Never waits. Returns the buffer to the pool when MPI no longer needs it.
  void send(Rank to, PacketBuffer packet) LAPSE_REQUIRES(mpi_role);

  // Checks which sends are complete and begins the next fragments.
  void advance() LAPSE_REQUIRES(mpi_role);

  bool empty() const { return requests_.empty() && unfinished_payloads_ == 0; }

  // Drops everything after a failure; returns the number of packets not sent.
  std::size_t abandon() LAPSE_REQUIRES(mpi_role);

 private:
  static constexpr std::uint32_t kNoPayload = ~std::uint32_t{0};

  // The memory that a request sends: an eager message with its buffer, or a fragment of a payload.
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
    Fifo<std::uint32_t> payloads;  // Those with fragments not yet begun.
    std::size_t in_flight = 0;
    std::size_t eager_bytes = 0;
  };

  void send_eager(Rank to, PacketBuffer message, mpi_wire::Kind kind) LAPSE_REQUIRES(mpi_role);
  // Sends the fragments of an announced packet.
  void send_fragments(Rank to, PacketBuffer packet) LAPSE_REQUIRES(mpi_role);
  void begin_fragments(Destination& destination) LAPSE_REQUIRES(mpi_role);
  void fragment_done(std::uint32_t index);

  const MPI_Comm communicator_;
  const std::size_t fragment_bytes_;
  const std::size_t fragments_in_flight_;
  BufferPool& pool_;

  MpiRequestBag<Sending> requests_;
  // A payload keeps its slot until all its fragments are sent; slots are reused.
  std::vector<Payload> payloads_;
  std::vector<std::uint32_t> free_slots_;
  std::size_t unfinished_payloads_ = 0;
  std::vector<Destination> destinations_;
  // Destinations of payloads with fragments not yet begun.
  std::vector<Rank> waiting_destinations_;
};

}  // namespace lapse
