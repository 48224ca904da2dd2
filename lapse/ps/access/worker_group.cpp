#include "lapse/ps/access/worker_group.hpp"

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/reduction.hpp"

namespace lapse {

void WorkerGroup::start(std::size_t workers, std::vector<Rank> participants, SyncBarrierCut* cut) {
  contributions_.assign(workers, {});
  arrived_.store(0, std::memory_order_relaxed);
  returned_.store(kNone, std::memory_order_relaxed);
  mismatch_reported_.store(false, std::memory_order_relaxed);
  reporter_.reset();
  std::function<void(const Bytes&)> take_result;
  if (cut != nullptr) {
    take_result = [cut](const Bytes& result) {
      progress_role.assert_held();  // By the engine.
      cut->take_result(result);
    };
  }
  group_.collective().start(std::move(participants), rank(), &combine_contributions, &is_returned,
                            std::move(take_result), cut);
}

std::uint64_t WorkerGroup::contribute(std::size_t local_index, Bytes bytes) {
  const Arrival arrival = arrive(local_index, std::move(bytes));
  complete(local_index, arrival);
  return arrival.round;
}

WorkerGroup::Arrival WorkerGroup::arrive(std::size_t local_index, Bytes bytes) {
  // No worker of this rank can complete the round before this worker has arrived.
  const std::uint64_t round = completed_rounds() + 1;
  contributions_[local_index] = std::move(bytes);
  // If one worker contributes while another returns, at least one of them sees the other.
  return {.round = round, .arrived = arrived_.fetch_add(1, std::memory_order_seq_cst) + 1};
}

void WorkerGroup::complete(std::size_t local_index, const Arrival& arrival) {
  // If the others have completed the round meanwhile, one of them may have returned legitimately.
  if (returned_.load(std::memory_order_seq_cst) != kNone && completed_rounds() < arrival.round) {
    combine(contributions_[local_index], make_returned(returned_.load(std::memory_order_relaxed), rank()));
  } else if (arrival.arrived == contributions_.size()) {
    arrived_.store(0, std::memory_order_relaxed);
    combined_.bytes = std::move(contributions_[0]);
    for (std::size_t i = 1; i < contributions_.size(); ++i) combine(combined_.bytes, contributions_[i]);
    combined_.handler = &group_;
    engine_.submit(combined_);
  }
}

void WorkerGroup::combine(Bytes& into, const Bytes& from) {
  try {
    combine_contributions(into, from);
  } catch (...) {
    if (!mismatch_reported_.exchange(true, std::memory_order_relaxed))
      report(mismatch_, std::current_exception());
    throw;
  }
}

void WorkerGroup::report(GroupFailureReport& report, std::exception_ptr failure,
                         std::optional<std::uint64_t> worker) {
  report.group = &group_;
  report.failure = std::move(failure);
  report.worker = worker;
  report.handler = is_all() ? static_cast<SubmissionHandler*>(&protocol_.failures()) : &protocol_.groups();
  engine_.submit(report);
}

void WorkerGroup::leave(std::uint64_t worker) {
  std::uint64_t none = kNone;
  if (returned_.compare_exchange_strong(none, worker, std::memory_order_seq_cst)) {
    end_.bytes = make_returned(worker, rank());
    end_.handler = &group_;
    engine_.submit(end_);
  }
  if (arrived_.load(std::memory_order_seq_cst) > 0) {
    throw CollectiveMismatch(fmt::format(
        "worker {} on rank {} has returned from its function, while other workers of the rank wait "
        "for it in a collective call",
        worker, rank().value()));
  }
}

}  // namespace lapse
