// A network of ranks in one process, each driven by threads of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/core/types.hpp"
#include "lapse/transport/loopback/shared_memory.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

class ThreadedLoopbackTransport;

struct ThreadedLoopbackSettings {
  // Bulk packets may overtake and be overtaken; they do if delay_seed is set.
  bool separate_bulk_lane = false;
  // If set, every poll delivers a random part of what waits, possibly nothing, from random senders, so that
  // many interleavings occur; pairs of ranks keep their order. If not, packets are delivered in order of
  // arrival. With an odd seed, packets are costly (Transport::is_costly).
  std::optional<std::uint64_t> delay_seed;
  std::size_t shared_bytes = std::size_t{1} << 30;  // memory that ranks can share
  bool remote_reads = false;                        // ranks can read what others expose
};

// For tests of the concurrent parts. Thread safety: one thread at a time per endpoint.
class ThreadedLoopback {
 public:
  explicit ThreadedLoopback(std::int32_t ranks, const ThreadedLoopbackSettings& settings = {});
  ~ThreadedLoopback();
  ThreadedLoopback(const ThreadedLoopback&) = delete;
  ThreadedLoopback& operator=(const ThreadedLoopback&) = delete;

  std::int32_t ranks() const;
  // Lives as long as the network. Throws UsageError for a rank that does not exist.
  Transport& endpoint(Rank rank);

 private:
  friend class ThreadedLoopbackTransport;

  // Waits until all ranks have called it; returns what each passed. May be called repeatedly.
  std::vector<std::vector<std::byte>> gather(Rank rank, std::span<const std::byte> mine,
                                             GatherWatch* watch = nullptr);
  std::vector<Rank> missing() const LAPSE_REQUIRES(mutex_);

  const ThreadedLoopbackSettings settings_;
  LoopbackMemory memory_;
  std::vector<std::unique_ptr<ThreadedLoopbackTransport>> endpoints_;

  // The gathering in progress. A rank takes one result before it can begin the next gathering, so the result
  // is overwritten only after every rank has taken it.
  Mutex mutex_;
  std::condition_variable all_arrived_;
  std::vector<std::vector<std::byte>> brought_ LAPSE_GUARDED_BY(mutex_);
  std::vector<std::vector<std::byte>> result_ LAPSE_GUARDED_BY(mutex_);
  std::vector<bool> has_arrived_ LAPSE_GUARDED_BY(mutex_);  // by rank
  std::size_t arrived_ LAPSE_GUARDED_BY(mutex_) = 0;
  std::uint64_t gatherings_ LAPSE_GUARDED_BY(mutex_) = 0;
};

}  // namespace lapse
