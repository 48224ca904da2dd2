// A network of ranks in one process whose deliveries are chosen from outside, one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/loopback/shared_memory.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/fifo.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

class LoopbackTransport;

// For simulations: equal choices give equal runs. Thread safety: none, endpoints included.
//
// Packets wait in one queue per ordered pair of ranks (a rank and itself too), which delivers only its oldest
// (I6). With a separate bulk lane, bulk packets wait in a bag per pair, which may deliver any; without one
// they share the queue.
class LoopbackNetwork {
 public:
  // Packets that can be delivered next: the oldest of a queue of `count` packets, or any of a bag.
  struct Choice {
    Rank from;
    Rank to;
    Transport::Lane lane = Transport::Lane::ordered;
    std::size_t count = 0;

    bool operator==(const Choice&) const = default;
  };

  // `shared_bytes`: memory that ranks can share.
  LoopbackNetwork(std::int32_t ranks, bool separate_bulk_lane,
                  std::size_t shared_bytes = std::size_t{1} << 30);
  ~LoopbackNetwork();
  LoopbackNetwork(const LoopbackNetwork&) = delete;
  LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;

  std::int32_t ranks() const { return ranks_; }
  bool has_separate_bulk_lane() const { return separate_bulk_lane_; }
  // Lives as long as the network. Throws UsageError for a rank that does not exist.
  Transport& endpoint(Rank rank);

  // The choices, ordered by sender, receiver and lane; valid until the next call of any function.
  std::span<const Choice> deliverable();

  // The number of a rank's remote reads in flight, and the next step of one (LoopbackRemoteReads::advance).
  std::size_t reads_in_flight(Rank reader) const;
  bool advance_read(Rank reader, std::size_t index);

  // Delivers exactly one packet: the oldest, or packet `index` of the bag (counted in sending order). Throws
  // ProtocolError if there is no such packet.
  void deliver(const Choice& choice, const Transport::Handler& handler, std::size_t index = 0);

 private:
  friend class LoopbackTransport;

  struct Pair {
    Fifo<PacketBuffer> queue;
    std::vector<PacketBuffer> bag;
  };

  Pair& pair(Rank from, Rank to);
  void check(Rank rank, const char* call) const;
  void send(Rank from, Rank to, PacketBuffer packet, Transport::Lane lane);
  // Delivers to one rank, sender by sender, the queue before the bag.
  std::size_t poll(Rank to, const Transport::Handler& handler, std::size_t limit);
  // Number of packets that wait for this rank.
  std::size_t waiting(Rank to) const;

  const std::int32_t ranks_;
  const bool separate_bulk_lane_;
  std::vector<Pair> pairs_;  // Index: sender * ranks + receiver.
  std::vector<Choice> choices_;
  BufferPool pool_;
  LoopbackMemory memory_;
  std::vector<std::unique_ptr<LoopbackTransport>> endpoints_;
};

}  // namespace lapse
