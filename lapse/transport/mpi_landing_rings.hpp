// Bulk payloads by remote memory access: from the sender's buffer into a ring at the receiver.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/buffer_pool.hpp"
#include "lapse/transport/landing_layout.hpp"
#include "lapse/transport/landing_reader.hpp"
#include "lapse/transport/landing_writer.hpp"
#include "lapse/transport/mpi_communicator.hpp"
#include "lapse/transport/mpi_request_bag.hpp"
#include "lapse/transport/mpi_rma_window.hpp"
#include "lapse/transport/mpi_wire.hpp"
#include "lapse/transport/packet_buffer.hpp"

namespace lapse {

// A payload is put into the ring of its sender; once it is there (flush), a note in the eager stream says so,
// and the handler reads it where it lies. Notes of the opposite direction, or a note of their own for each
// quarter of the ring, bring the credit back. Whoever finds no room sends a message instead.
//
// Guarantees: payloads of one sender are announced in the order in which they were put.
//
// Thread safety: none; all functions but free are called with the MPI lock held.
class MpiLandingRings {
 public:
  // A payload where it landed: valid until consumed(from).
  using Landed = std::span<const std::byte>;
  // Called after a message to this rank has been sent.
  using OnSent = std::function<void(Rank)>;

  // Takes a window of layout.window_bytes of this rank. Packets of fewer bytes than `smallest_bytes` are not
  // taken.
  MpiLandingRings(const MpiCommunicator& communicator, const LandingLayout& layout, MpiRmaWindow window,
                  std::size_t smallest_bytes, BufferPool& pool, OnSent on_sent);

  // Begins to put the packet and takes it; false, and the packet untouched, when it must go by message.
  bool send(Rank to, PacketBuffer& packet);
  // Completes what has been put, one flush for each receiver, and tells the receivers.
  void advance();
  bool idle() const { return putting_.empty() && notes_.empty(); }

  // A note has arrived. Returns the payload, empty if the note brings credit only. Throws ProtocolError.
  Landed accept(Rank from, std::span<const std::byte> note);
  // The payload of this sender has been handled.
  void consumed(Rank from);

  // At the end, when nothing more is sent: tells every sender what has been consumed; then, once that has
  // arrived, all_returned() everywhere.
  void return_all_credit();
  bool all_returned() const;
  // A message of the eager stream that has come meanwhile: false if it is anything but credit.
  bool accept_credit(Rank from, std::span<const std::byte> message);

  // Payloads that have been handled here.
  std::uint64_t landed_payloads() const { return landed_payloads_; }

  // Gives everything up at the end of a life that went wrong; returns the number of packets not sent. The
  // window stays.
  std::size_t abandon();
  // Collective, without the MPI lock held.
  void free() { window_.free(communicator_); }

 private:
  struct Peer {
    std::size_t offset_there = 0;  // of this rank's ring in the peer's window
    std::size_t offset_here = 0;   // of the peer's ring in this rank's window
    LandingWriter writer;
    LandingReader reader;
  };
  struct Putting {
    Rank to;
    LandingPlace place;
    PacketBuffer packet;
  };

  void send_note(Rank to, Peer& peer, const LandingPlace& place, std::size_t bytes);
  Peer& peer(Rank from);

  const MpiCommunicator& communicator_;
  const std::size_t ring_bytes_;
  const std::size_t smallest_bytes_;
  MpiRmaWindow window_;
  BufferPool& pool_;
  OnSent on_sent_;

  std::vector<std::optional<Peer>> peers_;  // by rank; those with rings
  std::vector<Putting> putting_;            // in sending order
  MpiRequestBag<PacketBuffer> notes_;
  std::uint64_t landed_payloads_ = 0;
};

}  // namespace lapse
