// The transport of one rank of a ThreadedLoopback.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/transport/buffer_pool.hpp"
#include "lapse/transport/fifo.hpp"
#include "lapse/transport/loopback_memory.hpp"
#include "lapse/transport/loopback_reads.hpp"
#include "lapse/transport/packet_buffer.hpp"
#include "lapse/transport/threaded_loopback.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Thread safety: one thread at a time uses an endpoint; the endpoints of other ranks put packets into its
// inbox.
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
  std::string shared_memory_problem() const override { return {}; }
  void join_group(std::int32_t group) override { group_.join(group); }
  std::byte* allocate_shared(std::size_t bytes) override { return group_.allocate(bytes); }
  std::size_t free_shared_bytes() const override { return group_.free_bytes(); }
  bool has_separate_bulk_lane() const override { return separate_bulk_lane_; }
  bool has_remote_reads() const override { return remote_reads_; }
  std::uint32_t expose(std::span<const std::byte> memory) override;
  void begin_read(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) override;
  void set_read_handler(ReadHandler handler) override { reads_.set_handler(std::move(handler)); }

  void send(Rank to, PacketBuffer packet, Lane lane) override;
  PacketBuffer acquire_buffer() override { return pool_.acquire(); }
  std::size_t poll(const Handler& handler, std::size_t limit) override;
  // No packet waits for this rank, and it has no read under way.
  bool idle() const override {
    return waiting_.load(std::memory_order_acquire) == 0 && reads_.under_way() == 0;
  }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override;
  void close() override;
  [[noreturn]] void abort(const std::string& reason) override;

 private:
  // Bulk packets of a separate lane have queues of their own.
  struct Packet {
    std::size_t queue = 0;
    PacketBuffer buffer;
  };

  // Returns whether one was delivered.
  bool advance_reads();
  void put(Rank from, PacketBuffer packet, Lane lane);
  std::optional<Packet> take();
  void throw_if_closed(const char* call) const;

  ThreadedLoopback& network_;
  const Rank rank_;
  const std::int32_t ranks_;
  const bool separate_bulk_lane_;
  const bool delays_;
  const bool remote_reads_;
  LoopbackGroup group_;

  // Used by the endpoint's own thread only.
  BufferPool pool_;
  RandomEngine random_;
  std::vector<std::vector<std::span<const std::byte>>> exposed_;  // by number and rank
  LoopbackReads reads_;
  bool closed_ = false;

  // The inbox, guarded by mutex_.
  std::mutex mutex_;
  std::vector<Fifo<PacketBuffer>> queues_;  // Index: sender, or ranks + sender for the bulk lane.
  Fifo<std::size_t> arrivals_;              // The queues in the order of arrival; not used with delays.
  // Packets in the inbox; written under mutex_, read without.
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace lapse
