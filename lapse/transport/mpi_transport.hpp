// The transport over MPI messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/buffer_pool.hpp"
#include "lapse/transport/fifo.hpp"
#include "lapse/transport/host_doorbells.hpp"
#include "lapse/transport/mpi_communicator.hpp"
#include "lapse/transport/mpi_landing_rings.hpp"
#include "lapse/transport/mpi_lock.hpp"
#include "lapse/transport/mpi_payload_receiver.hpp"
#include "lapse/transport/mpi_receive_ring.hpp"
#include "lapse/transport/mpi_remote_reads.hpp"
#include "lapse/transport/mpi_sender.hpp"
#include "lapse/transport/mpi_shared_memory.hpp"
#include "lapse/transport/mpi_transport_settings.hpp"
#include "lapse/transport/mpi_wire.hpp"
#include "lapse/transport/packet_buffer.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Thread safety: as Transport says; abort: any thread. MPI is called under the MPI lock only, handlers
// without it. With MPI_THREAD_FUNNELED only the main thread may call.
//
// Several transports may live in a process, on the same or on different communicators. Threads that
// construct, close or all_gather must do so in the same order on every rank, as for all collective calls of
// MPI.
class MpiTransport final : public Transport {
 public:
  // Collective. Duplicates the communicator: throws what MpiCommunicator and agree_on_settings throw.
  explicit MpiTransport(MPI_Comm communicator, const MpiTransportSettings& settings = {});
  // Without close(): frees what it can without communication; messages under way are lost.
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  Rank rank() const override { return communicator_.rank(); }
  std::int32_t ranks() const override { return communicator_.ranks(); }
  std::int32_t host_ranks() const override { return communicator_.host_ranks(); }
  std::string host_name() const override { return communicator_.host_name(); }
  std::vector<std::int32_t> hosts() const override { return communicator_.hosts(); }

  bool has_separate_bulk_lane() const override { return landing_.has_value(); }
  BulkLaneReport bulk_lane_report() const override { return bulk_lane_report_; }

  void send(Rank to, PacketBuffer packet, Lane lane) override;
  PacketBuffer acquire_buffer() override { return pool_.acquire(); }
  std::size_t poll(const Handler& handler, std::size_t limit) override;
  bool idle() const override {
    return own_packets_.empty() && sender_->empty() && payloads_->empty() &&
           (!landing_ || landing_->idle()) && (!reads_ || reads_->idle());
  }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override;
  std::string shared_memory_problem() const override { return shared_memory_problem_; }
  void join_group(std::int32_t group) override;
  std::byte* allocate_shared(std::size_t bytes) override { return group_memory_->allocate(bytes); }
  std::size_t free_shared_bytes() const override { return MpiSharedMemory::free_bytes(); }
  std::string shared_memory_place() const override { return MpiSharedMemory::directory(); }
  bool has_remote_reads() const override { return reads_.has_value(); }
  std::uint32_t expose(std::span<const std::byte> memory) override { return reads_.value().expose(memory); }
  void begin_read(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) override;
  void set_read_handler(ReadHandler handler) override {
    if (reads_) reads_->set_handler(std::move(handler));
  }
  Doorbell* doorbell() override { return bells_ ? &bells_->own() : nullptr; }
  void close() override;
  [[noreturn]] void abort(const std::string& reason) override;

  // Size of the largest packet that travels as one message.
  std::size_t eager_packet_bytes() const { return settings_.eager_bytes - mpi_wire::kKindBytes; }
  // Packets of the bulk lane that have come by remote memory access.
  std::uint64_t landed_packets() const { return landing_ ? landing_->landed_payloads() : 0; }
  // The duplicate, for windows of this instance.
  const MpiCommunicator& communicator() const { return communicator_; }

 private:
  void throw_if_closed(const char* call) const;
  // Memory for doorbells; shows whether the ranks of this host can share any.
  void make_doorbells();
  void make_landing_rings();

  std::size_t deliver_own(const Handler& handler, std::size_t limit);
  std::size_t deliver_payloads(const Handler& handler, std::size_t limit);
  // Returns the number of packets delivered: 0 for an announcement or a packet that has to wait.
  std::size_t accept(const MpiReceiveRing::Message& message, const Handler& handler);
  // The part of accept for Kind::landing.
  std::size_t accept_landing(Rank from, std::span<const std::byte> note, const Handler& handler);
  // Waits a while until all landing rings are empty at both ends; returns what is left, empty if nothing.
  std::string empty_landing_rings();

  // A receiver may have a packet before the sender's request is complete; gives up after a while.
  void wait_for_sends();
  // Frees requests; called with the MPI lock held. Returns what had been left, empty if nothing.
  std::string release_requests();

  // Constant after construction.
  MpiCommunicator communicator_;
  MpiTransportSettings settings_;
  MpiLock& lock_;
  std::string shared_memory_problem_;
  std::optional<HostDoorbells> bells_;
  BulkLaneReport bulk_lane_report_;

  // Guarded by the caller's promise (one thread at a time) and, where MPI is concerned, by the MPI lock.
  BufferPool pool_;
  Fifo<PacketBuffer> own_packets_;  // Packets of this rank to itself.
  std::optional<MpiReceiveRing> ring_;
  std::optional<MpiSender> sender_;
  std::optional<MpiPayloadReceiver> payloads_;
  std::optional<MpiLandingRings> landing_;  // on every rank or on none
  std::optional<MpiRemoteReads> reads_;     // the same
  MpiSharedMemory host_memory_;             // doorbells
  MPI_Comm group_ = MPI_COMM_NULL;
  std::optional<MpiSharedMemory> group_memory_;
  std::size_t packets_since_sends_ = 0;
  bool own_packets_first_ = false;
  bool polling_ = false;
  bool closed_ = false;
};

}  // namespace lapse
