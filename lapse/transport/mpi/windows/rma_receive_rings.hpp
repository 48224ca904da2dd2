// Bulk payloads by remote memory access: from the sender's buffer into a ring of the receiver.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/host/host_doorbells.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/library/request_bag.hpp"
#include "lapse/transport/mpi/library/wire.hpp"
#include "lapse/transport/mpi/windows/rma_start.hpp"
#include "lapse/transport/mpi/windows/rma_window.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"
#include "lapse/transport/rma/rma_receive_ring_reader.hpp"
#include "lapse/transport/rma/rma_receive_ring_writer.hpp"
#include "lapse/transport/rma/rma_receive_rings.hpp"

namespace lapse {

// A payload is put into the ring of its sender. Once it is there (flush), a note in the eager stream reports
// it, and the handler reads it in place. Notes of the opposite direction, or a separate note for each quarter
// of the ring, return the credit. A sender that finds no room sends a message instead.
//
// Guarantees: payloads of one sender are announced in the order in which they were put.
//
// Thread safety: one thread at a time; functions that call MPI are called by the holder of the MPI lock.
class MpiRmaReceiveRings final : public RmaReceiveRings {
 public:
  // A payload in its ring: valid until consumed(from).
  using Payload = std::span<const std::byte>;

  // Takes a window of layout.window_bytes of this rank, or none: then every packet must go by message.
  // Packets of fewer bytes than `smallest_bytes` are not taken. bells: of this host; null if there are none.
  MpiRmaReceiveRings(const MpiCommunicator& communicator, RmaStart start, std::size_t smallest_bytes,
                     BufferPool& pool, HostDoorbells* bells);

  const Report& report() const override { return report_; }
  std::uint64_t received_packets() const override { return received_packets_; }
  // There is a window, on every rank or on none.
  bool in_use() const { return window_.has_value(); }

  // Of this rank's window.
  std::size_t bytes() const { return window_bytes_; }

  // Begins to put the packet and takes it; false, and the packet untouched, when it must go by message.
  bool send(Rank to, PacketBuffer& packet) LAPSE_REQUIRES(mpi_role);
  // Completes what has been put, one flush for each receiver, and notifies the receivers.
  void advance() LAPSE_REQUIRES(mpi_role);
  bool idle() const { return putting_.empty() && notes_.empty(); }

  // A note has arrived. Returns the payload, empty if the note brings credit only. Throws ProtocolError.
  Payload accept(Rank from, std::span<const std::byte> note) LAPSE_REQUIRES(mpi_role);
  // The payload of this sender has been handled.
  void consumed(Rank from) LAPSE_REQUIRES(mpi_role);

  // At the end, when nothing more is sent: notifies every sender of what has been consumed; then, once that
  // has arrived, all_returned() everywhere.
  void return_all_credit() LAPSE_REQUIRES(mpi_role);
  bool all_returned() const;
  // A message of the eager stream that has come meanwhile: false if it is anything but credit.
  bool accept_credit(Rank from, std::span<const std::byte> message);

  // Gives everything up after a failure; returns the number of packets not sent. The window stays.
  std::size_t abandon() LAPSE_REQUIRES(mpi_role);
  // Collective.
  void free() LAPSE_EXCLUDES(mpi_role) {
    if (window_) window_->free(communicator_);
  }

 private:
  struct Peer {
    std::size_t remote_offset = 0;  // of this rank's ring in the peer's window
    std::size_t local_offset = 0;   // of the peer's ring in this rank's window
    RmaReceiveRingWriter writer;
    RmaReceiveRingReader reader;
  };
  struct Putting {
    Rank to;
    RmaRingSlot slot;
    PacketBuffer packet;
  };

  void send_note(Rank to, Peer& peer, const RmaRingSlot& slot, std::size_t bytes) LAPSE_REQUIRES(mpi_role);
  Peer& peer(Rank from);

  const MpiCommunicator& communicator_;
  const std::size_t ring_bytes_;
  const std::size_t smallest_bytes_;
  std::size_t window_bytes_ = 0;
  const Report report_;
  std::optional<MpiRmaWindow> window_;
  BufferPool& pool_;
  HostDoorbells* const bells_;

  std::vector<std::optional<Peer>> peers_;  // by rank; those with rings
  std::vector<Putting> putting_;            // in sending order
  MpiRequestBag<PacketBuffer> notes_;
  std::uint64_t received_packets_ = 0;
};

}  // namespace lapse
