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

// A payload is put into its sender's ring at the receiver. After a flush, a note in the eager stream
// announces it, and the handler reads it in place. Notes in the opposite direction return the credit; so does
// a separate note for each quarter of the ring. A sender that finds no space sends a message instead.
//
// Guarantee: payloads of one sender are announced in the order in which they were put.
//
// Thread safety: one thread at a time; functions that call MPI are called by the holder of the MPI lock.
class MpiRmaReceiveRings final : public RmaReceiveRings {
 public:
  // A payload in its ring; valid until consumed(from).
  using Payload = std::span<const std::byte>;

  // Takes a window of layout.window_bytes of this rank, or none: then every packet goes by message. Does not
  // take packets smaller than `smallest_bytes`. bells: this host's; null if there are none.
  MpiRmaReceiveRings(const MpiCommunicator& communicator, RmaStart start, std::size_t smallest_bytes,
                     BufferPool& pool, HostDoorbells* bells);

  const Report& report() const override { return report_; }
  std::uint64_t received_packets() const override { return received_packets_; }
  // Whether there is a window; the same on every rank.
  bool in_use() const { return window_.has_value(); }

  // Bytes of this rank's window.
  std::size_t bytes() const { return window_bytes_; }

  // Begins to put the packet and takes it. Returns false, leaving the packet untouched, if it must go by
  // message.
  bool send(Rank to, PacketBuffer& packet) LAPSE_REQUIRES(mpi_role);
  // Completes what was put, with one flush per receiver, and notifies the receivers.
  void advance() LAPSE_REQUIRES(mpi_role);
  bool idle() const { return putting_.empty() && notes_.empty(); }

  // Handles a note. Returns its payload, empty if it only returns credit. Throws ProtocolError.
  Payload accept(Rank from, std::span<const std::byte> note) LAPSE_REQUIRES(mpi_role);
  // The payload of this sender has been handled.
  void consumed(Rank from) LAPSE_REQUIRES(mpi_role);

  // At the end, when no rank sends any more: returns all credit to every sender. When that has arrived,
  // all_returned() is true on every rank.
  void return_all_credit() LAPSE_REQUIRES(mpi_role);
  bool all_returned() const;
  // Handles an eager message that has arrived meanwhile; false if it is anything but credit.
  bool accept_credit(Rank from, std::span<const std::byte> message);

  // Drops everything after a failure; returns the number of packets not sent. The window stays.
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
