// The part that the workers of one rank take together in collective calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/progress_engine.hpp"

namespace lapse {

// Thread safety: contribute by each worker of the phase; start between phases. Contributions of this rank are
// combined in the order of its workers, whichever worker comes last.
class WorkerGroup {
 public:
  WorkerGroup(RankProtocol& protocol, ProgressEngine& engine)
      : protocol_(protocol), collective_(protocol.worker_collective()), engine_(engine) {}

  void start(std::size_t workers) {
    contributions_.assign(workers, {});
    arrived_.store(0, std::memory_order_relaxed);
  }

  // Gives this worker's contribution; the last one of the rank sends the combination off. Returns the number
  // of completed rounds that the caller waits for. Throws CollectiveMismatch, and reports it to all ranks, as
  // the other workers wait already.
  std::uint64_t contribute(std::size_t local_index, Bytes bytes);

  bool completed(std::uint64_t rounds) const { return collective_.completed_rounds() >= rounds; }
  // The combination of the round that was waited for, until this worker contributes again.
  const Bytes& result() const { return collective_.result(); }

 private:
  RankProtocol& protocol_;
  Collective& collective_;
  ProgressEngine& engine_;
  std::vector<Bytes> contributions_;
  std::atomic<std::size_t> arrived_{0};
  Contribution combined_;
  FailureReport mismatch_;
};

}  // namespace lapse
