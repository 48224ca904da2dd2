// The transport of one rank of a LoopbackNetwork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/loopback/remote_reads.hpp"
#include "lapse/transport/loopback/shared_memory.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

class LoopbackNetwork;

// Thread safety: none, for all endpoints of a network together. all_gather needs all ranks at once, so it is
// available with one rank only; close is not collective here.
class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(LoopbackNetwork& network, Rank rank, LoopbackMemory& memory)
      : network_(network), rank_(rank), shared_memory_(memory), reads_(*this) {}

  Rank rank() const override { return rank_; }
  std::int32_t ranks() const override;
  std::int32_t host_ranks() const override { return ranks(); }
  std::string host_name() const override { return "loopback"; }
  std::vector<std::int32_t> hosts() const override {
    return std::vector<std::int32_t>(static_cast<std::size_t>(ranks()), 0);
  }
  bool has_separate_bulk_lane() const override;

  void send(Rank to, PacketBuffer packet, Lane lane) override LAPSE_REQUIRES(progress_role);
  PacketBuffer acquire_buffer() override LAPSE_REQUIRES(progress_role);
  std::size_t poll(const Handler& handler, std::size_t limit) override LAPSE_REQUIRES(progress_role);
  // True if no packet waits for this rank and it has no read in flight.
  bool idle() const override LAPSE_REQUIRES(progress_role);
  // Throws ProtocolError with more than one rank.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                 GatherWatch* watch = nullptr) override;
  SharedMemory* shared_memory() override { return &shared_memory_; }
  RemoteReads* remote_reads() override { return &reads_; }
  void close(GatherWatch* watch = nullptr) override;
  [[noreturn]] void abort(const std::string& reason) override;

 private:
  friend class LoopbackNetwork;

  // Not collective here: a rank can be read once it has exposed memory.
  class Reads final : public LoopbackRemoteReads {
   public:
    explicit Reads(LoopbackTransport& transport) : transport_(transport) {}
    std::uint32_t expose(std::span<const std::byte> memory) override;

   private:
    std::span<const std::byte> exposed(Rank from, std::uint32_t number) const override;

    LoopbackTransport& transport_;
    std::vector<std::span<const std::byte>> memory_;
  };

  void throw_if_closed(const char* call) const;

  LoopbackNetwork& network_;
  const Rank rank_;
  LoopbackSharedMemory shared_memory_;
  Reads reads_;
  bool closed_ = false;
};

}  // namespace lapse
