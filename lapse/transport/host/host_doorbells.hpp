// The doorbells of the server threads of all ranks of a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/host/doorbell.hpp"

namespace lapse {

// Each has a cache line of its own in shared memory, so that the sender of a message can wake its receiver.
// Thread safety: any thread.
class HostDoorbells {
 public:
  static constexpr std::size_t kLineBytes = 64;

  // `lines`: a cache line for each rank of the host, in rank order, initially zero. hosts[r] is the host of
  // rank r.
  HostDoorbells(std::byte* lines, std::span<const std::int32_t> hosts, Rank self);

  Doorbell& own() { return *bells_[self_.index()]; }
  // Does nothing for ranks of other hosts.
  void ring(Rank rank) {
    if (Doorbell* bell = bells_[rank.index()].get()) bell->ring();
  }

 private:
  Rank self_;
  std::vector<std::unique_ptr<Doorbell>> bells_;  // by rank; null for other hosts
};

}  // namespace lapse
