// What the protocol needs from a network: packets between ranks, in order, and a few collective calls for
// control.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/transport/doorbell.hpp"
#include "lapse/transport/packet_buffer.hpp"

namespace lapse {

// How packets of the bulk lane travel, for the log.
struct BulkLaneReport {
  bool problem = false;  // not as the options ask
  std::string text;      // empty: nothing to say
};

// Thread safety: one thread at a time (the holder of the progress lock), except where a comment says
// otherwise.
//
// Invariants:
// 1. Packets from one rank to another on the ordered lane are delivered whole, once, in sending order, also
// those
//    that a rank sends to itself (I6).
// 2. send never waits for the receiver and never refuses: what engines send each other cannot deadlock.
// 3. Packets of the bulk lane are delivered whole and once; where has_separate_bulk_lane() is true they may
// overtake
//    and be overtaken, else they share the ordered lane.
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
  virtual bool has_separate_bulk_lane() const { return false; }
  virtual BulkLaneReport bulk_lane_report() const { return {}; }

  // Whoever has more to say in a turn had better send it in packets of at most so many bytes: large enough
  // for the price of a message not to matter, small enough for sender, network and receiver to work at the
  // same time, and for the buffer to stay in the processor's cache.
  virtual std::size_t packet_bytes() const { return kPacketBytes; }
  // With what the transport and MPI add, Open MPI sends it over TCP at once, without a handshake before
  // (below btl_tcp_eager_limit, 64 KiB).
  static constexpr std::size_t kPacketBytes = std::size_t{60} << 10;

  // Sends a packet of any size (more than 2 GiB too). Takes the buffer; it goes back to the pool when sent.
  virtual void send(Rank to, PacketBuffer packet, Lane lane) = 0;

  // An empty buffer from the pool, to be filled and sent.
  virtual PacketBuffer acquire_buffer() = 0;

  // Delivers at most `limit` packets to the handler and advances unfinished sends, receives and reads.
  // Returns the number of packets delivered. The handler may call send and acquire_buffer, not poll.
  virtual std::size_t poll(const Handler& handler, std::size_t limit) = 0;

  // Nothing under way: no unfinished send or read, no announced payload that has not been delivered.
  virtual bool idle() const = 0;

  // Collective. Gathers one byte string from each rank, of any length, on every rank, in rank order.
  // May be called while no thread polls; does not hold the MPI lock while it waits.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) = 0;

  // --- memory that ranks of a host share

  // Why there is none on this host; empty when there can be. The same text on all its ranks.
  virtual std::string shared_memory_problem() const { return "this transport has no shared memory"; }
  // Collective. The ranks that give the same `group`, all of one host, will share memory; once.
  virtual void join_group(std::int32_t group) { static_cast<void>(group); }
  // Collective over the group. As many zeroed bytes as every rank of the group asks for, from a page boundary
  // on, mapped until close(). No page exists before it is touched, and who touches one that there is no room
  // for is killed. Throws OutOfMemory when free_shared_bytes() is less on some rank, else MpiError.
  virtual std::byte* allocate_shared(std::size_t bytes);
  // What such memory may take now, with all that other groups of this host take.
  virtual std::size_t free_shared_bytes() const { return 0; }
  // Where, for texts.
  virtual std::string shared_memory_place() const { return {}; }

  // --- reading what other ranks expose

  // Whether ranks can read each other's memory by themselves. The same on every rank.
  virtual bool has_remote_reads() const { return false; }
  // Collective. Lets every rank read `memory` until close(); gives it a number, the same on every rank.
  // Throws MpiError on every rank when it does not work on one.
  virtual std::uint32_t expose(std::span<const std::byte> memory);
  // Begins to read the eight bytes at `offset` of what `from` has exposed under `number`. Never waits.
  virtual void begin_read(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag);
  // What was there at some moment since begin_read.
  struct FinishedRead {
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
  };
  // Called by poll, in any order of the reads; several at once count as one packet. May call what the other
  // handler may. Set before the first read.
  using ReadHandler = std::function<void(std::span<const FinishedRead>)>;
  virtual void set_read_handler(ReadHandler handler) { static_cast<void>(handler); }

  // What wakes this rank's server progress thread, also from other ranks of the host when they send; null:
  // nobody else rings.
  virtual Doorbell* doorbell() { return nullptr; }

  // Collective. Ends the transport: throws ProtocolError when something is still under way on this rank.
  // After it only the destructor may be called.
  virtual void close() = 0;

  // Ends the whole job at once, on every rank; for failures that cannot be reported otherwise. Any thread.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;
};

inline std::byte* Transport::allocate_shared(std::size_t /*bytes*/) {
  throw UsageError("this transport has no shared memory");
}

inline std::uint32_t Transport::expose(std::span<const std::byte> /*memory*/) {
  throw UsageError("this transport has no remote reads");
}

inline void Transport::begin_read(Rank /*from*/, std::uint32_t /*number*/, std::size_t /*offset*/,
                                  std::uint64_t /*tag*/) {
  throw UsageError("this transport has no remote reads");
}

}  // namespace lapse
