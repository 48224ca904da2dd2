// The common part of one rank's workers in collective calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/engine/progress_engine.hpp"

namespace lapse {

// Combines the contributions of this rank in the order of its workers, whichever worker arrives last. Thread
// safety: contribute by each worker of the phase; start between phases.
class WorkerGroup {
 public:
  WorkerGroup(RankProtocol& protocol, ProgressEngine& engine)
      : protocol_(protocol), collective_(protocol.worker_collective()), engine_(engine) {}

  void start(std::size_t workers) {
    contributions_.assign(workers, {});
    arrived_.store(0, std::memory_order_relaxed);
    returned_.store(kNone, std::memory_order_relaxed);
    mismatch_reported_.store(false, std::memory_order_relaxed);
  }

  // Contributes for this worker; the last worker of the rank sends the combination. Returns the number of
  // completed rounds to wait for. Throws CollectiveMismatch, and reports it to all ranks, because the other
  // workers wait already.
  std::uint64_t contribute(std::size_t local_index, Bytes bytes);

  // The two halves of contribute. Any time may pass between them.
  struct Arrival {
    std::uint64_t round;  // to wait for
    std::size_t arrived;  // workers of this rank, including this one
  };
  Arrival arrive(std::size_t local_index, Bytes bytes);
  void complete(std::size_t local_index, const Arrival& arrival);

  // Worker `worker` (its index among all), on this rank, makes no further collective call, so no round can be
  // completed any more. The first such worker of a rank sends that towards the root in place of a
  // contribution; when it meets a contribution to a call, the call fails on every rank. Throws
  // CollectiveMismatch if a worker of this rank waits already.
  void leave(std::uint64_t worker);

  bool completed(std::uint64_t rounds) const { return collective_.completed_rounds() >= rounds; }
  // Returns the combination of the awaited round. Valid until this worker contributes again.
  const Bytes& result() const { return collective_.result(); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // Throws CollectiveMismatch if the calls differ, and reports it to all ranks.
  void combine(Bytes& into, const Bytes& from);
  Rank rank() const { return protocol_.registry().self(); }

  RankProtocol& protocol_;
  Collective& collective_;
  ProgressEngine& engine_;
  std::vector<Bytes> contributions_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<std::uint64_t> returned_{kNone};  // the first worker that has returned
  Contribution combined_;
  Contribution end_;
  std::atomic<bool> mismatch_reported_{false};
  FailureReport mismatch_;
};

}  // namespace lapse
