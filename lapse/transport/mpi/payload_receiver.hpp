// The half of MpiTransport that receives announced payloads.
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
// later packets of its sender wait behind it, so that the order of that sender is kept (I6); other senders do
// not wait. Payloads of one sender are received side by side, with at most `fragments_in_flight` fragments
// posted.
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

  // A payload of this size follows. Throws OutOfMemory when there is no memory for it now: it is received
  // once there is, and its sender's later packets wait behind it as ever.
  void announce(Rank from, std::uint64_t bytes);

  // Whether packets from this sender have to wait; wait_behind copies a packet behind them.
  bool is_waiting(Rank from) const { return !senders_[from.index()].packets.empty(); }
  void wait_behind(Rank from, std::span<const std::byte> packet);

  // Posts receives and polls those in flight. Throws Error for a payload for which there has been no memory
  // for kPatience.
  void advance() LAPSE_REQUIRES(mpi_role);

  // The next packet that is complete and whose turn it is, of any sender.
  std::optional<Packet> take_ready();

  bool empty() const { return active_.empty(); }

  // Gives everything up after a failure; returns the number of packets not delivered.
  std::size_t abandon() LAPSE_REQUIRES(mpi_role);

 private:
  using Clock = std::chrono::steady_clock;
  // Long enough for workers that a failure ends to free memory.
  static constexpr std::chrono::seconds kPatience{30};

  // A payload, or a packet that waits behind one and has arrived.
  struct Waiting {
    PacketBuffer buffer;
    std::size_t missing = 0;   // The payload's size, as long as there is no memory for it.
    std::size_t posted = 0;    // Bytes whose receives have been posted.
    std::size_t received = 0;  // Bytes that have arrived.
    Clock::time_point refused_at{};
  };
  struct Sender {
    Fifo<Waiting> packets;
    std::uint64_t first_number = 0;  // The number of packets.front(); packets are numbered by arrival.
    std::uint64_t next_to_post = 0;
    std::size_t in_flight = 0;
  };
  struct Fragment {
    Rank from;
    std::uint64_t packet_number = 0;
    std::size_t bytes = 0;
  };

  void add(Rank from, Waiting packet);
  // Gives the packet the memory that it misses; false where there is none.
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
