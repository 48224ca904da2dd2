// The interface of a network to the protocol: ordered packets between ranks and a few collective control
// calls.
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

// Thread safety: one thread at a time (the holder of the progress lock, if an engine runs), except where a
// comment states otherwise.
//
// Invariants:
// 1. Packets from one rank to another on the ordered lane are delivered whole, once, in sending order,
//    including those that a rank sends to itself (I6).
// 2. send never waits for the receiver and never refuses, so sends between engines cannot deadlock.
// 3. Packets of the bulk lane are delivered whole and once. If has_separate_bulk_lane() is true they may
//    overtake and be overtaken; otherwise they share the ordered lane.
class Transport {
 public:
  // Called for each packet received. The bytes start at a 16-byte boundary and are valid only during the
  // call.
  using Handler = std::function<void(Rank from, std::span<const std::byte> packet)>;

  enum class Lane { ordered, bulk };

  virtual ~Transport() = default;

  virtual Rank rank() const = 0;
  virtual std::int32_t ranks() const = 0;
  // Number of ranks of this communicator on this host, including this one.
  virtual std::int32_t host_ranks() const = 0;
  virtual std::string host_name() const = 0;
  // A host number for each rank; ranks of one host have equal numbers.
  virtual std::vector<std::int32_t> hosts() const = 0;
  // This process among all processes that were started together. This communicator may cover only some of
  // them.
  struct Job {
    Rank rank;
    std::int32_t ranks = 1;
    bool first_server = true;  // of this process
  };
  virtual Job job() const { return {.rank = rank(), .ranks = ranks()}; }
  virtual bool has_separate_bulk_lane() const = 0;

  // The size up to which a sender with more to send should fill a packet to this rank. Large enough to
  // amortise the cost of a message; small enough that sender, network and receiver work in parallel and the
  // buffer stays in the processor's cache.
  virtual std::size_t packet_bytes(Rank /*to*/) const { return kPacketBytes; }
  // Open MPI sends such a packet over TCP at once, without a handshake: with the transport's and MPI's
  // headers it stays below btl_tcp_eager_limit, 64 KiB.
  static constexpr std::size_t kPacketBytes = std::size_t{60} << 10;

  // Whether each packet to this rank costs system calls, whatever its size, so that small ones are gathered.
  virtual bool is_costly(Rank /*to*/) const { return false; }

  // Sends a packet of any size (also above 2 GiB). Takes the buffer and returns it to the pool once sent.
  virtual void send(Rank to, PacketBuffer packet, Lane lane) LAPSE_REQUIRES(progress_role) = 0;

  // Returns an empty buffer from the pool, to be filled and sent.
  virtual PacketBuffer acquire_buffer() LAPSE_REQUIRES(progress_role) = 0;
  // Like acquire_buffer, for a packet to this rank on this lane that begins with `bytes` bytes. If the
  // transport can send from its own memory, the buffer is in that memory and its capacity is the recommended
  // packet size. The caller must fill and send it before it begins another packet to that rank on that lane.
  virtual PacketBuffer begin_packet(Rank /*to*/, Lane /*lane*/, std::size_t /*bytes*/)
      LAPSE_REQUIRES(progress_role) {
    return acquire_buffer();
  }

  // Delivers at most `limit` packets to the handler and advances unfinished sends, receives and reads.
  // Returns the number of packets delivered. The handler may call send and acquire_buffer, not poll. Throws
  // OutOfMemory once for a packet for which memory cannot be allocated; the packet is delivered when memory
  // is available, followed by its sender's later packets, and everything else continues. After other
  // exceptions packets are lost.
  virtual std::size_t poll(const Handler& handler, std::size_t limit) LAPSE_REQUIRES(progress_role) = 0;

  // Upper bound of the memory for messages from other ranks: buffers that exist whether messages arrive or
  // not, and this rank's part of the memory shared by the ranks of a host.
  virtual std::size_t buffer_bytes() const { return 0; }

  // True if nothing is in flight: no unfinished send or read, no announced payload that is not yet delivered.
  virtual bool idle() const LAPSE_REQUIRES(progress_role) = 0;

  // True if a packet waits for the receiver to free space in memory that both ranks share. Only polling sends
  // it: no other event announces the free space.
  virtual bool waits_for_room() const LAPSE_REQUIRES(progress_role) { return false; }

  // Collective. Gathers one byte string of any length from each rank, on every rank, in rank order. May be
  // called while no thread polls. Does not hold the MPI lock while it waits; sleeps during long waits. If
  // `watch` is given, it learns during a long wait which ranks are missing.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                         GatherWatch* watch = nullptr) = 0;

  // Capabilities that only some transports have, each with a header of its own; null if this transport lacks
  // it. The same on every rank.
  virtual SharedMemory* shared_memory() { return nullptr; }
  virtual RemoteReads* remote_reads() { return nullptr; }
  virtual RmaReceiveRings* rma_receive_rings() { return nullptr; }

  // The doorbell that wakes this rank's server thread; other ranks of the host ring it when they send. Null
  // if other ranks do not ring.
  virtual Doorbell* doorbell() { return nullptr; }

  // Throws MpiStateError, naming `call`, if MPI_Finalize was called before the transport was closed. Every
  // other call then throws the same. Any thread.
  virtual void throw_if_ended(const char* /*call*/) const {}

  // Collective. Ends the transport; then only the destructor may be called. Throws ProtocolError if something
  // is still in flight on this rank. `watch` may be null; it reports a long wait for other ranks, with an
  // empty list of missing ranks because all have arrived.
  virtual void close(GatherWatch* watch = nullptr) = 0;

  // Ends the whole job at once, on every rank. For failures that cannot be reported otherwise. Any thread.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;
};

}  // namespace lapse
