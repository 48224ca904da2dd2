// The common part of a group's workers on one rank: in collective calls, and when one of them fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/ps/access/sync_barrier_cut.hpp"
#include "lapse/ps/stalls/collective_reporter.hpp"
#include "lapse/transport/engine/progress_engine.hpp"

namespace lapse {

// Combines the contributions of this rank in the order of its workers, whichever worker arrives last.
//
// Thread safety: contribute and report by each worker of the group; start between phases.
class WorkerGroup {
 public:
  // `group`: one of the protocol's.
  WorkerGroup(RankProtocol& protocol, ProgressEngine& engine, RankGroup& group)
      : protocol_(protocol), group_(group), engine_(engine) {}

  // `workers` of this rank; `participants`: the ranks with workers of the group, ascending, equal on all.
  // `cut`: of the group of all workers, started for this phase; null for other groups.
  void start(std::size_t workers, std::vector<Rank> participants, SyncBarrierCut* cut = nullptr);

  // The group of all workers: its failures are the server's, and its sync_barrier is that of all ranks.
  bool is_all() const { return group_.number() == kAllWorkers; }
  GroupNumber number() const { return group_.number(); }
  // Of this group alone.
  const Failure& failure() const { return group_.failure(); }
  // Of this group, or of some rank.
  bool failed() const { return protocol_.failure().raised() || failure().raised(); }

  // Ends the group on every rank, unless it has failed already. The report lives until failed().
  void report(GroupFailureReport& report, std::exception_ptr failure,
              std::optional<std::uint64_t> worker = {});

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

  bool completed(std::uint64_t rounds) const { return completed_rounds() >= rounds; }
  // Returns the combination of the awaited round. Valid until this worker contributes again.
  const Bytes& result() const { return group_.collective().result(); }

  CollectiveReporter& reporter() { return reporter_; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // Throws CollectiveMismatch if the calls differ, and reports it to all ranks.
  void combine(Bytes& into, const Bytes& from);
  std::uint64_t completed_rounds() const { return group_.collective().completed_rounds(); }
  Rank rank() const { return protocol_.registry().self(); }

  RankProtocol& protocol_;
  RankGroup& group_;
  ProgressEngine& engine_;
  std::vector<Bytes> contributions_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<std::uint64_t> returned_{kNone};  // the first worker that has returned
  Contribution combined_;
  Contribution end_;
  std::atomic<bool> mismatch_reported_{false};
  GroupFailureReport mismatch_;
  CollectiveReporter reporter_;
};

}  // namespace lapse
