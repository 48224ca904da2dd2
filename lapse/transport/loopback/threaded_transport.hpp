// The transport of one rank of a ThreadedLoopback.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/transport/loopback/remote_reads.hpp"
#include "lapse/transport/loopback/shared_memory.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/fifo.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Thread safety: one thread at a time uses an endpoint; endpoints of other ranks put packets into its inbox.
class ThreadedLoopbackTransport final : public Transport {
 public:
  ThreadedLoopbackTransport(ThreadedLoopback& network, Rank rank, std::int32_t ranks,
                            const ThreadedLoopbackSettings& settings, LoopbackMemory& memory);

  Rank rank() const override { return rank_; }
  std::int32_t ranks() const override { return ranks_; }
  std::int32_t host_ranks() const override { return ranks_; }
  std::string host_name() const override { return "loopback"; }
  std::vector<std::int32_t> hosts() const override {
    return std::vector<std::int32_t>(static_cast<std::size_t>(ranks_), 0);
  }
  bool has_separate_bulk_lane() const override { return separate_bulk_lane_; }
  bool is_costly(Rank to) const override { return costly_ && to != rank_; }

  void send(Rank to, PacketBuffer packet, Lane lane) override LAPSE_REQUIRES(progress_role);
  PacketBuffer acquire_buffer() override LAPSE_REQUIRES(progress_role) { return pool_.acquire(); }
  std::size_t poll(const Handler& handler, std::size_t limit) override LAPSE_REQUIRES(progress_role);
  // True if no packet waits for this rank and it has no read in flight.
  bool idle() const override LAPSE_REQUIRES(progress_role) {
    return waiting_.load(std::memory_order_acquire) == 0 && reads_.in_flight() == 0;
  }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                 GatherWatch* watch = nullptr) override;
  SharedMemory* shared_memory() override { return &shared_memory_; }
  RemoteReads* remote_reads() override { return has_remote_reads_ ? &reads_ : nullptr; }
  void close(GatherWatch* watch = nullptr) override;
  [[noreturn]] void abort(const std::string& reason) override;

 private:
  // Bulk packets of a separate lane have queues of their own.
  struct Packet {
    std::size_t queue = 0;
    PacketBuffer buffer;
  };

  class Reads final : public LoopbackRemoteReads {
   public:
    explicit Reads(ThreadedLoopbackTransport& transport) : transport_(transport) {}
    std::uint32_t expose(std::span<const std::byte> memory) override;

   private:
    std::span<const std::byte> exposed(Rank from, std::uint32_t number) const override;

    ThreadedLoopbackTransport& transport_;
    std::vector<std::vector<std::span<const std::byte>>> memory_;  // by number and rank
  };

  // Returns whether a read was delivered.
  bool advance_reads();
  void put(Rank from, PacketBuffer packet, Lane lane);
  std::optional<Packet> take();
  void throw_if_closed(const char* call) const;

  ThreadedLoopback& network_;
  const Rank rank_;
  const std::int32_t ranks_;
  const bool separate_bulk_lane_;
  const bool delays_;
  const bool costly_;
  const bool has_remote_reads_;
  LoopbackSharedMemory shared_memory_;

  // Used by the endpoint's own thread only.
  BufferPool pool_;
  RandomEngine random_;
  Reads reads_;
  bool closed_ = false;

  // The inbox.
  Mutex mutex_;
  // Index: sender, or ranks + sender for the bulk lane.
  std::vector<Fifo<PacketBuffer>> queues_ LAPSE_GUARDED_BY(mutex_);
  // The queues in order of arrival; unused with delays.
  Fifo<std::size_t> arrivals_ LAPSE_GUARDED_BY(mutex_);
  // Packets in the inbox; written under mutex_, read without it.
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace lapse
