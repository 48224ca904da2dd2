// The part of MpiTransport that receives announced payloads.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/request_bag.hpp"
#include "lapse/transport/mpi/library/transport_settings.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/fifo.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

// An announced payload is received in fragments, directly into a buffer of its size. Until it is complete,
// later packets of its sender wait, which keeps that sender's order (I6); other senders do not wait. Payloads
// of one sender are received in parallel, with at most `fragments_in_flight` fragments posted.
//
// Thread safety: none.
class MpiPayloadReceiver {
 public:
  struct Packet {
    Rank from;
    PacketBuffer buffer;
  };

  MpiPayloadReceiver(MPI_Comm communicator, std::int32_t ranks, const MpiTransportSettings& settings,
                     BufferPool& pool);

  // A payload of this size follows. Throws OutOfMemory if its memory cannot be allocated now: it is received
  // once it can, and its sender's later packets wait as usual.
  void announce(Rank from, std::uint64_t bytes);

  // Whether packets from this sender must wait; wait_behind copies one to the end of its queue.
  bool is_waiting(Rank from) const { return !senders_[from.index()].packets.empty(); }
  void wait_behind(Rank from, std::span<const std::byte> packet);

  // Posts receives and polls those in flight. Throws Error for a payload whose memory could not be allocated
  // for kPatience.
  void advance() LAPSE_REQUIRES(mpi_role);

  // The next packet, of any sender, that is complete and next in its sender's order.
  std::optional<Packet> take_ready();

  bool empty() const { return active_.empty(); }

  // Drops everything after a failure; returns the number of packets not delivered.
  std::size_t abandon() LAPSE_REQUIRES(mpi_role);

 private:
  using Clock = std::chrono::steady_clock;
  // Long enough for workers that a failure ends to free memory.
  static constexpr std::chrono::seconds kPatience{30};

  // A payload, or a packet that has arrived and waits for an earlier one.
  struct Waiting {
    PacketBuffer buffer;
    std::size_t missing = 0;   // The payload's size, until its memory is allocated.
    std::size_t posted = 0;    // Bytes whose receives have been posted.
    std::size_t received = 0;  // Bytes that have arrived.
    Clock::time_point refused_at{};
  };
  struct Sender {
    Fifo<Waiting> packets;
    std::uint64_t first_number = 0;  // Number of packets.front(); packets are numbered by arrival.
    std::uint64_t next_to_post = 0;
    std::size_t in_flight = 0;
  };
  struct Fragment {
    Rank from;
    std::uint64_t packet_number = 0;
    std::size_t bytes = 0;
  };

  void add(Rank from, Waiting packet);
  // Allocates the packet's missing memory; false if out of memory.
  static bool allocate(Waiting& packet);
  void post_fragments(Rank from) LAPSE_REQUIRES(mpi_role);
  void fragment_arrived(const Fragment& fragment, const MPI_Status& status) LAPSE_REQUIRES(mpi_role);

  const MPI_Comm communicator_;
  const std::size_t fragment_bytes_;
  const std::size_t fragments_in_flight_;
  BufferPool& pool_;

  MpiRequestBag<Fragment> requests_;
  std::vector<Sender> senders_;
  // The senders of these packets.
  std::vector<Rank> active_;
};

}  // namespace lapse
