// The transport of one rank of a LoopbackNetwork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/loopback_memory.hpp"
#include "lapse/transport/loopback_reads.hpp"
#include "lapse/transport/packet_buffer.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

class LoopbackNetwork;

// Thread safety: none, for all endpoints of a network together.
// all_gather needs all ranks at once and is available with one rank only; close is not collective here.
class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(LoopbackNetwork& network, Rank rank, LoopbackMemory& memory)
      : network_(network), rank_(rank), group_(memory) {}

  Rank rank() const override { return rank_; }
  std::int32_t ranks() const override;
  std::int32_t host_ranks() const override { return ranks(); }
  std::string host_name() const override { return "loopback"; }
  std::vector<std::int32_t> hosts() const override {
    return std::vector<std::int32_t>(static_cast<std::size_t>(ranks()), 0);
  }
  std::string shared_memory_problem() const override { return {}; }
  void join_group(std::int32_t group) override { group_.join(group); }
  std::byte* allocate_shared(std::size_t bytes) override { return group_.allocate(bytes); }
  std::size_t free_shared_bytes() const override { return group_.free_bytes(); }
  bool has_separate_bulk_lane() const override;
  // Not collective here: a rank can be read when it has exposed.
  bool has_remote_reads() const override { return true; }
  std::uint32_t expose(std::span<const std::byte> memory) override;
  void begin_read(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) override;
  void set_read_handler(ReadHandler handler) override { reads_.set_handler(std::move(handler)); }

  void send(Rank to, PacketBuffer packet, Lane lane) override;
  PacketBuffer acquire_buffer() override;
  std::size_t poll(const Handler& handler, std::size_t limit) override;
  // No packet waits for this rank, and it has no read under way.
  bool idle() const override;
  // Throws ProtocolError with more than one rank.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override;
  void close() override;
  [[noreturn]] void abort(const std::string& reason) override;

 private:
  friend class LoopbackNetwork;

  void throw_if_closed(const char* call) const;

  LoopbackNetwork& network_;
  const Rank rank_;
  LoopbackGroup group_;
  std::vector<std::span<const std::byte>> exposed_;
  LoopbackReads reads_;
  bool closed_ = false;
};

}  // namespace lapse
