#include "lapse/ps/phase/seat_runner.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>

#include "lapse/core/exception_text.hpp"
#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

void SeatRunner::run(const Seat& seat, const std::function<void(Worker&)>& f, GroupFailureReport& report) {
  WorkerGroup& group = seat.phase.group;
  std::optional<Worker> end;  // Does what follows f; made before it, as memory may be lacking later.
  try {
    end.emplace(seat);
    {
      const TimedRegion region("lapse worker");
      const EndedWorkers<Worker>::Life life(ended_, seat.slot.local_index(), seat);
      f(life.worker());
      // A lease that f has moved out ends with the worker: a worker that holds a lease cannot wait.
    }
    process_.check("the return of the function of a worker");
    end->wait_all();
    group.leave(seat.index());
  } catch (...) {
    if (process_.is_left()) throw;
    report_failure(seat, report);
    if (end && !group.is_all()) end->core().drain();
  }
  WorkerCore::end_clock(seat);
  seat.slot.set_activity(WorkerActivity::returned);
}

void SeatRunner::report_failure(const Seat& seat, GroupFailureReport& report) noexcept {
  // A failure that another worker or rank has raised is reported already.
  if (seat.phase.group.failed()) return;
  try {
    seat.phase.group.report(report, std::current_exception(), seat.index());
  } catch (...) {
    // The ranks that wait for this one would not know.
    transport_.abort(fmt::format("rank {}: the report of a failure failed: {}", seat.phase.rank.value(),
                                 text_of(std::current_exception())));
  }
}

}  // namespace lapse
