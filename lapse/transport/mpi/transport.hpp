// The transport over MPI messages.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/host/host_rings.hpp"
#include "lapse/transport/mpi/gather_notices.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/transport_settings.hpp"
#include "lapse/transport/mpi/library/wire.hpp"
#include "lapse/transport/mpi/payload_receiver.hpp"
#include "lapse/transport/mpi/receive_ring.hpp"
#include "lapse/transport/mpi/sender.hpp"
#include "lapse/transport/mpi/windows/host_memory.hpp"
#include "lapse/transport/mpi/windows/remote_reads.hpp"
#include "lapse/transport/mpi/windows/rma_receive_rings.hpp"
#include "lapse/transport/mpi/windows/shared_memory.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/fifo.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Thread safety: see Transport; abort: any thread. MPI is called only under the MPI lock, handlers only
// without it. With MPI_THREAD_FUNNELED only the main thread may call.
//
// A process may have several transports, on the same or on different communicators. Threads that construct,
// close or all_gather must do so in the same order on every rank, as MPI requires for collective calls.
class MpiTransport final : public Transport {
 public:
  // Collective. Duplicates the communicator. Throws what MpiCommunicator and agree_on_settings throw.
  explicit MpiTransport(MPI_Comm communicator, const MpiTransportSettings& settings = {});
  // Without close(): frees what it can without communication; messages in flight are lost.
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  Rank rank() const override { return communicator_.rank(); }
  std::int32_t ranks() const override { return communicator_.ranks(); }
  std::int32_t host_ranks() const override { return communicator_.host_ranks(); }
  std::string host_name() const override { return communicator_.host_name(); }
  std::vector<std::int32_t> hosts() const override { return communicator_.hosts(); }

  Job job() const override { return communicator_.job(); }

  bool has_separate_bulk_lane() const override { return rings_->in_use(); }

  // For ranks of this host, at most the size of a ring message.
  std::size_t packet_bytes(Rank to) const override {
    const bool by_ring = host_rings_ != nullptr && communicator_.same_host(to);
    return by_ring ? std::min(kPacketBytes, host_rings_->largest_message()) : kPacketBytes;
  }
  // Ranks of other hosts, where there is no network with RMA.
  bool is_costly(Rank to) const override { return !rings_->in_use() && !communicator_.same_host(to); }
  void send(Rank to, PacketBuffer packet, Lane lane) override LAPSE_REQUIRES(progress_role);
  PacketBuffer acquire_buffer() override LAPSE_REQUIRES(progress_role) { return pool_.acquire(); }
  // Begins it in the host ring, unless packets of a separate bulk lane may go through the ring at any time.
  PacketBuffer begin_packet(Rank to, Lane lane, std::size_t bytes) override LAPSE_REQUIRES(progress_role);
  std::size_t buffer_bytes() const override;
  std::size_t poll(const Handler& handler, std::size_t limit) override LAPSE_REQUIRES(progress_role);
  bool idle() const override LAPSE_REQUIRES(progress_role) {
    return own_packets_.empty() &&
           (host_rings_ == nullptr || (host_rings_->all_written() && host_rings_->all_received())) &&
           sender_->empty() && payloads_->empty() && (!rings_->in_use() || rings_->idle()) &&
           (!reads_ || reads_->idle());
  }
  bool waits_for_room() const override LAPSE_REQUIRES(progress_role) {
    return host_rings_ != nullptr && !host_rings_->all_written();
  }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                 GatherWatch* watch = nullptr) override;
  SharedMemory* shared_memory() override { return &shared_memory_; }
  RemoteReads* remote_reads() override { return reads_ ? &*reads_ : nullptr; }
  RmaReceiveRings* rma_receive_rings() override { return &*rings_; }
  Doorbell* doorbell() override { return bells_ != nullptr ? &bells_->own() : nullptr; }
  void throw_if_ended(const char* call) const override;
  void close(GatherWatch* watch = nullptr) override;
  // Takes the MPI lock if it can; otherwise ends the job without it.
  [[noreturn]] void abort(const std::string& reason) override LAPSE_NO_THREAD_SAFETY_ANALYSIS;

  // Size of the largest packet sent as one message between ranks of a host, and to or from a given rank.
  std::size_t eager_packet_bytes() const { return settings_.eager_bytes - mpi_wire::kKindBytes; }
  std::size_t eager_packet_bytes(Rank other) const {
    return settings_.eager_bytes_to(communicator_.same_host(other)) - mpi_wire::kKindBytes;
  }
  // Size of the largest packet sent through a ring to a rank of this host; 0: there are no rings.
  std::size_t host_ring_packet_bytes() const {
    return host_rings_ != nullptr ? host_rings_->largest_message() : 0;
  }
  // The duplicate, for this instance's windows.
  const MpiCommunicator& communicator() const { return communicator_; }

 private:
  // Sources of packets. Each poll begins with the next one.
  enum class Source : std::uint8_t { own, host, mpi };

  void throw_if_closed(const char* call) const;
  void make_rma_receive_rings();

  // Exchanges notices of ranks that wait in a gathering. `announces`: this rank sends its own to all others.
  void exchange_notices(bool announces) LAPSE_EXCLUDES(mpi_role);

  std::size_t deliver_own(const Handler& handler, std::size_t limit) LAPSE_REQUIRES(progress_role);
  std::size_t deliver_payloads(const Handler& handler, std::size_t limit) LAPSE_REQUIRES(progress_role);
  // Packets from ranks of this host.
  std::size_t deliver_from_host(const Handler& handler, std::size_t limit) LAPSE_REQUIRES(progress_role);
  // MPI messages and packets with no other way; advances what is in flight.
  std::size_t deliver_from_mpi(const Handler& handler, std::size_t limit) LAPSE_REQUIRES(progress_role);
  // Whether an MPI message may arrive or is in flight.
  bool uses_mpi() const LAPSE_REQUIRES(progress_role);

  // These return the number of packets delivered: 0 for an announcement or a packet that must wait.
  std::size_t accept(const MpiReceiveRing::Message& message, const Handler& handler)
      LAPSE_REQUIRES(progress_role);
  std::size_t accept_packet(Rank from, std::span<const std::byte> packet, const Handler& handler)
      LAPSE_REQUIRES(progress_role);
  void accept_announcement(Rank from, std::span<const std::byte> announcement) LAPSE_REQUIRES(progress_role);
  // Accepts a Kind::ring_note.
  std::size_t accept_note(Rank from, std::span<const std::byte> note, const Handler& handler)
      LAPSE_REQUIRES(progress_role);
  // Waits a while until all RMA receive rings are empty at both ends. Returns a description of what is left,
  // empty if nothing.
  std::string drain_rma_receive_rings() LAPSE_REQUIRES(progress_role);

  // Waits for unfinished sends, as a receiver may have a packet before the sender's request completes. Gives
  // up after a while.
  void wait_for_sends() LAPSE_REQUIRES(progress_role);
  // Frees requests. Returns a description of what was left, including in the rings between ranks of the host;
  // empty if nothing.
  std::string release_requests(std::size_t unsent, std::size_t undelivered)
      LAPSE_REQUIRES(progress_role, mpi_role);

  // Constant after construction.
  MpiCommunicator communicator_;
  MpiTransportSettings settings_;
  MpiLock& lock_;

  // Used by one thread at a time; if MPI is concerned, by the holder of the MPI lock.
  BufferPool pool_ LAPSE_GUARDED_BY(progress_role);
  // Packets of this rank to itself.
  Fifo<PacketBuffer> own_packets_ LAPSE_GUARDED_BY(progress_role);
  MpiGatherNotices notices_;
  std::optional<MpiReceiveRing> ring_;
  std::optional<MpiSender> sender_;
  std::optional<MpiPayloadReceiver> payloads_;
  std::optional<MpiRmaReceiveRings> rings_;
  std::optional<MpiRemoteReads> reads_;  // on every rank or on none
  MpiHostMemory host_memory_;
  HostDoorbells* bells_;   // of host_memory_; null if there are none
  HostRings* host_rings_;  // of host_memory_; null if there are none
  MpiSharedMemory shared_memory_;
  std::size_t packets_since_sends_ LAPSE_GUARDED_BY(progress_role) = 0;
  std::size_t polls_without_mpi_ LAPSE_GUARDED_BY(progress_role) = 0;
  Source first_ LAPSE_GUARDED_BY(progress_role) = Source::mpi;  // in the last poll
  bool polling_ LAPSE_GUARDED_BY(progress_role) = false;
  bool closed_ = false;
};

}  // namespace lapse
