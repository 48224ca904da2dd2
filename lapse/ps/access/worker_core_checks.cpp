// WorkerCore: the checks before a call, and the end of calls.
#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/foreign_table.hpp"
#include "lapse/ps/groups.hpp"

namespace lapse {

using Busy = WorkerGate::Busy;

void WorkerCore::end() noexcept {
  if (has_ended_ || is_left()) return;
  // Ends a lease that was moved out of the worker's function.
  if (lease_ != nullptr) abandon_lease();
  endpoint_.orphan_handles();
  gate_.close();
  has_ended_ = true;
}

void WorkerCore::throw_group_failed() const {
  throw GroupFailed(group_failure_.origin(), group_failure_.text());
}

// --- before an access ---

void WorkerCore::check_admission(const TableHandle& table, Allowed allowed) {
  check_call(table.server(), allowed);
  check_failure();
  UnansweredCount& count = endpoint_.unanswered().count();
  if (!count.is_barred()) [[likely]]
    return;
  if (may_pass_all()) {
    count.unbar();
    return count_lags();
  }
  if (allowed == Allowed::when_free) wait_to_pass(table);
}

void WorkerCore::refuse_life() const {
  if (is_left()) process_.refuse(fmt::format("a call of worker {} of rank {}", index(), phase_.rank.value()));
  throw UsageError(
      fmt::format("a call of worker {} on rank {} after its end: a worker is used by the function that it "
                  "was given to, "
                  "until that returns, or until it is detached",
                  index(), phase_.rank.value()));
}

void WorkerCore::check_call(const void* server, Allowed allowed) const {
  check_life();
  if (server != phase_.server) {
    throw UsageError(
        fmt::format("a worker of rank {} was given {}", phase_.rank.value(), foreign_table(server)));
  }
  switch (gate_.busy()) {
    case Busy::no:
      break;
    case Busy::user_code:
      throw UsageError("the server was called from a function that runs under a key's latch");
    case Busy::engine:
      throw UsageError("the server was called from code of the application that it runs itself");
    case Busy::lease:
      if (allowed == Allowed::under_lease) break;
      throw UsageError(
          fmt::format("worker {} on rank {} called the server while it holds a lease: only release, "
                      "pull_if_local and localize "
                      "are possible",
                      index(), phase_.rank.value()));
  }
}

}  // namespace lapse
