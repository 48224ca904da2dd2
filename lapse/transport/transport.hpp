// What the protocol needs from a network: packets between ranks, in order, and a few collective calls for
// control.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/packet_buffer.hpp"

namespace lapse {

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
  virtual bool has_separate_bulk_lane() const { return false; }

  // Sends a packet of any size (more than 2 GiB too). Takes the buffer; it goes back to the pool when sent.
  virtual void send(Rank to, PacketBuffer packet, Lane lane) = 0;

  // An empty buffer from the pool, to be filled and sent.
  virtual PacketBuffer acquire_buffer() = 0;

  // Delivers at most `limit` packets to the handler and advances unfinished sends and receives.
  // Returns the number of packets delivered. The handler may call send and acquire_buffer, not poll.
  virtual std::size_t poll(const Handler& handler, std::size_t limit) = 0;

  // Nothing under way: no unfinished send, no announced payload that has not been delivered.
  virtual bool idle() const = 0;

  // Collective. Gathers one byte string from each rank, of any length, on every rank, in rank order.
  // May be called while no thread polls; does not hold the MPI lock while it waits.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) = 0;

  // Collective. Ends the transport: throws ProtocolError when something is still under way on this rank.
  // After it only the destructor may be called.
  virtual void close() = 0;

  // Ends the whole job at once, on every rank; for failures that cannot be reported otherwise. Any thread.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;
};

}  // namespace lapse
