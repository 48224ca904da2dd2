// What the protocol needs from a network: packets between ranks, in order, and a few collective calls for
// control.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/transport/host/doorbell.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

class GatherWatch;
class RemoteReads;
class RmaReceiveRings;
class SharedMemory;

// Thread safety: one thread at a time (the holder of the progress lock, where an engine runs), except where a
// comment states otherwise.
//
// Invariants:
// 1. Packets from one rank to another on the ordered lane are delivered whole, once, in sending order, also
//    those that a rank sends to itself (I6).
// 2. send never waits for the receiver and never refuses: what engines send each other cannot deadlock.
// 3. Packets of the bulk lane are delivered whole and once; where has_separate_bulk_lane() is true they may
//    overtake and be overtaken, else they share the ordered lane.
class Transport {
 public:
  // Called for each packet received; the bytes are valid during the call only and start at a 16-byte
  // boundary.
  using Handler = std::function<void(Rank from, std::span<const std::byte> packet)>;

  enum class Lane { ordered, bulk };

  virtual ~Transport() = default;

  virtual Rank rank() const = 0;
  virtual std::int32_t ranks() const = 0;
  // Ranks of this communicator on this host, this one included.
  virtual std::int32_t host_ranks() const = 0;
  virtual std::string host_name() const = 0;
  // For each rank a number of its host: equal for ranks of one host.
  virtual std::vector<std::int32_t> hosts() const = 0;
  // This process among all processes that were started together, of which this communicator may be a part.
  struct Job {
    Rank rank;
    std::int32_t ranks = 1;
    bool first_server = true;  // of this process
  };
  virtual Job job() const { return {.rank = rank(), .ranks = ranks()}; }
  virtual bool has_separate_bulk_lane() const = 0;

  // The size up to which a sender with more to send should fill a packet to this rank: large enough for the
  // price of a message not to matter, small enough for sender, network and receiver to work at the same time,
  // and for the buffer to stay in the processor's cache.
  virtual std::size_t packet_bytes(Rank /*to*/) const { return kPacketBytes; }
  // Open MPI sends such a packet over TCP at once, without a handshake: with the headers of the transport and
  // of MPI it stays below btl_tcp_eager_limit, 64 KiB.
  static constexpr std::size_t kPacketBytes = std::size_t{60} << 10;

  // Sends a packet of any size (more than 2 GiB too). Takes the buffer; it goes back to the pool when sent.
  virtual void send(Rank to, PacketBuffer packet, Lane lane) LAPSE_REQUIRES(progress_role) = 0;

  // An empty buffer from the pool, to be filled and sent.
  virtual PacketBuffer acquire_buffer() LAPSE_REQUIRES(progress_role) = 0;
  // The same for a packet to this rank on this lane, which begins with `bytes` bytes: where the transport can
  // send from memory of its own, the buffer is there, and its capacity is how large the packet should become.
  // It is to be filled and sent before any other packet to that rank on the lane is begun.
  virtual PacketBuffer begin_packet(Rank /*to*/, Lane /*lane*/, std::size_t /*bytes*/)
      LAPSE_REQUIRES(progress_role) {
    return acquire_buffer();
  }

  // Delivers at most `limit` packets to the handler and advances unfinished sends, receives and reads.
  // Returns the number of packets delivered. The handler may call send and acquire_buffer, not poll.
  // Throws OutOfMemory, once, for a packet for which there is no memory: it is delivered when there is, its
  // sender's later packets behind it, and everything else goes on. After other exceptions packets are lost.
  virtual std::size_t poll(const Handler& handler, std::size_t limit) LAPSE_REQUIRES(progress_role) = 0;

  // For messages from other ranks, at most: memory that is there whether they come or not, and this rank's
  // part of what ranks of a host share.
  virtual std::size_t buffer_bytes() const { return 0; }

  // Nothing in flight: no unfinished send or read, no announced payload that has not been delivered.
  virtual bool idle() const LAPSE_REQUIRES(progress_role) = 0;

  // A packet waits until its receiver has made room in memory that both share. Polls bring it there, and
  // nothing else announces the room.
  virtual bool waits_for_room() const LAPSE_REQUIRES(progress_role) { return false; }

  // Collective. Gathers one byte string from each rank, of any length, on every rank, in rank order.
  // May be called while no thread polls; does not hold the MPI lock while it waits, and sleeps when it waits
  // for long. `watch`, where there is one, learns then which ranks are missing.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                         GatherWatch* watch = nullptr) = 0;

  // Capabilities that only some transports have, each with a header of its own; null where this transport has
  // none. The same on every rank.
  virtual SharedMemory* shared_memory() { return nullptr; }
  virtual RemoteReads* remote_reads() { return nullptr; }
  virtual RmaReceiveRings* rma_receive_rings() { return nullptr; }

  // What wakes this rank's server thread, also from other ranks of the host when they send; null: other ranks
  // do not ring.
  virtual Doorbell* doorbell() { return nullptr; }

  // Throws MpiStateError, with the call that cannot be made, when what the transport works with has been
  // ended without it: MPI_Finalize was called. Every other call then throws the same. Any thread.
  virtual void throw_if_ended(const char* /*call*/) const {}

  // Collective. Ends the transport: throws ProtocolError when something is still in flight on this rank.
  // After it only the destructor may be called. `watch` may be null; it
  // reports a long wait for other ranks, with no rank as missing: all have come.
  virtual void close(GatherWatch* watch = nullptr) = 0;

  // Ends the whole job at once, on every rank; for failures that cannot be reported otherwise. Any thread.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;
};

}  // namespace lapse
