// WorkerCore: the clock, as other workers and the statistics see it.
#include <algorithm>
#include <atomic>
#include <span>

#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

bool WorkerCore::may_raise_level() const {
  // Of two workers that advance at the same time, one at least sees the other's new clock.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return phase_.levels->may_raise(endpoint_.level().clock());
}

void WorkerCore::notify_level() {
  if (!may_raise_level()) return;
  LevelNotice& notice = endpoint_.level_notice();
  if (!notice.raise()) return;
  notice.handler = &phase_.protocol.levels();
  submit(notice);
}

void WorkerCore::join_clock() {
  const GroupLevels& levels = *phase_.levels;
  if (!levels.is_used()) return;
  // This worker's gates do not know what the last worker of the place has changed.
  if (const Level need = endpoint_.level().left_need(); need > levels.visible()) {
    wait_for_copies([&] { return levels.visible() >= need; },
                    "other copies of what the last worker of its place has changed");
  }
  phase_.engine.exclusively([this]()
                                LAPSE_REQUIRES(progress_role) { phase_.protocol.levels().join(endpoint_); });
  UnansweredCount& count = endpoint_.unanswered().count();
  count.unbar();
  if (!may_pass_all()) count.bar();
}

void WorkerCore::leave_clock() {
  const GroupLevels& levels = *phase_.levels;
  if (!levels.is_used()) return;
  const Level need = levels.counts_values() ? levels.need(true) : 0;
  endpoint_.level().set_left_need(need);
  phase_.engine.exclusively([&]() LAPSE_REQUIRES(progress_role) {
    phase_.protocol.levels().want(kAllWorkers, need);
    phase_.protocol.levels().leave(kAllWorkers, endpoint_);
  });
  // A turn follows, in which the clock of the rank rises.
  report_level(seat());
}

void WorkerCore::report_level(const Seat& seat) noexcept {
  LevelNotice& notice = seat.slot.level_notice();
  if (!notice.raise()) return;
  notice.handler = &seat.phase.protocol.levels();
  seat.phase.engine.submit_from_outside(notice);
}

void WorkerCore::end_clock(const Seat& seat) noexcept {
  seat.slot.level().ended();
  if (seat.phase.levels->is_used()) report_level(seat);
}

void WorkerCore::count_lags() {
  const GroupLevels& levels = *phase_.levels;
  const Level clock = endpoint_.level().clock();
  const auto& tables = phase_.protocol.registry().tables();
  counted_lags_.resize(tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const TableShard& table = *tables[i];
    if (!table.definition().clock_bound || counted_lags_[i] == clock || !levels.admits(table, clock))
      continue;
    counted_lags_[i] = clock;
    const auto lag = static_cast<std::uint64_t>(std::max<Level>(0, clock - levels.readable(table)));
    TableCounters& counters = endpoint_.counters()[i];
    ++counters.clocks;
    counters.clock_lags += lag;
    counters.clock_lag_max = std::max(counters.clock_lag_max, lag);
  }
}

}  // namespace lapse
