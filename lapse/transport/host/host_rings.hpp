// Packets between the ranks of a host through rings in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/host/announced_packet.hpp"
#include "lapse/transport/host/host_doorbells.hpp"
#include "lapse/transport/host/host_ring.hpp"
#include "lapse/transport/host/host_rings_layout.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/fifo.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

// This rank's ends of the rings to and from the other ranks of its host.
//
// Guarantees:
// 1. Messages of one sender are taken in sending order.
// 2. send never waits and never refuses: a message that finds no space waits in its destination's queue.
// 3. Senders are taken in turn: none starves.
// 4. A ring takes memory when the first message is sent. If there is none, its sender does not use the ring.
// 5. A packet that is larger than a message follows its announcement in pieces, which the receiver puts
//    together while the sender writes further ones; they are between the sender's packets before and after.
//
// Thread safety: one thread at a time.
class HostRings {
 public:
  // Makes pages exist; false if out of memory.
  using Populate = std::function<bool(std::byte* memory, std::size_t bytes)>;

  struct Message {
    Rank from;
    std::span<const std::byte> packet;  // begins at a 16-byte boundary
  };

  // `memory`: layout.bytes() zeroed bytes, of which the first layout.position_bytes() are populated. hosts[r]
  // is the host of rank r. `bells`: this host's; null: no bell is rung.
  HostRings(std::byte* memory, const HostRingsLayout& layout, std::span<const std::int32_t> hosts, Rank self,
            HostDoorbells* bells, BufferPool& pool, Populate populate);

  // Whether messages to this rank go through a ring; the answer never changes.
  bool reaches(Rank to) {
    const State state = destinations_[to.index()].state;
    return state == State::open || (state == State::new_ring && open(to));
  }
  // Begins an empty packet in the ring, with space for `least` bytes and up to `most` if possible. The buffer
  // has no memory if there is no space. Requires reaches(to). It must be sent before any other to the same
  // rank.
  PacketBuffer begin(Rank to, std::size_t least, std::size_t most);
  // Requires reaches(to). The buffer goes to the pool.
  void send(Rank to, PacketBuffer packet);
  std::size_t largest_message() const { return largest_message_; }

  // Writes waiting packets as far as there is space.
  void advance() {
    if (!waiting_destinations_.empty()) [[unlikely]] {
      write_waiting();
    }
  }
  // True if no packet waits for space.
  bool all_written() const { return waiting_destinations_.empty(); }
  // True if no announced packet is incomplete.
  bool all_received() const { return incomplete_ == 0; }

  // Sets `message` to the next packet of any sender, if any; it stays in place until release(). Throws
  // ProtocolError; OutOfMemory once for a packet that is announced but has no memory: it is received when
  // memory is available, and its sender waits meanwhile; Error if that is too late.
  bool take(Message& message);
  void release();
  // Whether a rank of this host does not use its ring to this rank.
  bool has_unused() const { return has_unused_; }

  // At the end, when no rank sends any more: returns the number of packets not taken.
  std::size_t discard_received();
  // Drops waiting packets; returns their number.
  std::size_t abandon();

 private:
  enum class State : std::uint8_t {
    none,      // this rank, or a rank of another host
    new_ring,  // nothing has been sent
    open,
    unused,  // there was no memory
  };
  struct Waiting {
    PacketBuffer packet;
    bool announced = false;  // if larger than a message
    std::size_t written = 0;
  };
  struct Destination {
    State state = State::none;
    HostRingWriter writer;
    std::byte* ring = nullptr;
    Fifo<Waiting> waiting;
  };
  struct Sender {
    Rank rank;
    HostRingReader reader;
    AnnouncedPacket announced;
  };

  bool open(Rank to);
  // Returns whether all of it is written.
  bool write(Destination& destination, Waiting& waiting) const;
  // Returns whether no packet waits any more.
  bool write_waiting(Rank to);
  void write_waiting();
  // Takes what the sender has written up to the end of a packet, but not endlessly. Returns whether there is
  // a whole one.
  bool take_from(Sender& sender, std::span<const std::byte>& packet);

  const std::size_t ring_bytes_;
  const std::size_t largest_message_;
  HostDoorbells* const bells_;
  BufferPool& pool_;
  const Populate populate_;

  std::vector<Destination> destinations_;  // by rank
  std::vector<Sender> senders_;            // the other ranks of the host
  std::vector<Rank> waiting_destinations_;
  std::size_t taken_ = 0;       // the sender of the packet taken last
  std::size_t incomplete_ = 0;  // senders of announced packets that are not released
  bool has_unused_ = false;
};

}  // namespace lapse
