#include "lapse/ps/phase/attached_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/attached_worker.hpp"

namespace lapse {

// --- places

std::size_t AttachedPlaces::take(std::optional<std::size_t> wanted, Rank rank) {
  const MutexLock guard(mutex_);
  if (!is_open_)
    throw UsageError(
        fmt::format("attach on rank {}: not between start_progress and stop_progress", rank.value()));
  const std::size_t place =
      wanted ? *wanted : static_cast<std::size_t>(std::ranges::find(taken_, false) - taken_.begin());
  if (place >= taken_.size() && wanted) {
    throw UsageError(fmt::format("attach to place {} on rank {}: start_progress was called for {}", place,
                                 rank.value(), taken_.size()));
  }
  if (place >= taken_.size() || taken_[place]) {
    throw UsageError(
        fmt::format("attach on rank {}: {} is taken, start_progress was called for {}", rank.value(),
                    wanted ? fmt::format("place {}", place) : std::string("every place"), taken_.size()));
  }
  taken_[place] = true;
  return place;
}

AttachedPlace::AttachedPlace(AttachedPlaces& places, const Seat& seat)
    : places_(places), seat_(seat), exceptions_(std::uncaught_exceptions()) {
  worker_ = std::make_unique<Worker>(seat);
  worker_->core().join_clock();
  seat.slot.set_activity(WorkerActivity::application);
}

AttachedPlace::~AttachedPlace() {
  places_.ended().keep(seat_.local_index(), std::move(worker_));
  seat_.slot.set_activity(WorkerActivity::detached);
  places_.give_back(seat_.local_index());
}

void AttachedPlace::finish() {
  // A worker that holds a lease cannot wait.
  worker_->end();
  Worker end(seat_);
  try {
    end.wait_all();
  } catch (...) {
    // Some call has failed; no other worker waits for this one if all are answered.
    if (seat_.slot.open() == 0) end.core().leave_clock();
    throw;
  }
  end.core().leave_clock();
}

void AttachedPlace::report(std::exception_ptr failure) noexcept {
  const Phase& phase = seat_.phase;
  // This rank knows already that another rank has failed.
  if (phase.group.failed()) return;
  phase.group.report(places_.failure(seat_.local_index()), std::move(failure), seat_.index());
  // The report is in use until it has been carried out.
  phase.engine.wait(seat_.slot.bell(), [&phase] { return phase.group.failed(); });
}

// --- the worker

AttachedWorker::AttachedWorker(std::unique_ptr<AttachedPlace> place)
    : place_(std::move(place)), worker_(&place_->worker()) {}

AttachedWorker::AttachedWorker(AttachedWorker&&) noexcept = default;

AttachedWorker::~AttachedWorker() {
  if (leave_if_child()) return;
  try {
    if (place_->unwinds())
      throw Error("an exception of the application ended the thread, or what it did as a worker");
    detach();
  } catch (...) {
    place_->report(std::current_exception());
  }
}

bool AttachedWorker::leave_if_child() noexcept {
  if (place_ != nullptr && place_->is_left()) leave_to_parent(place_);
  return place_ == nullptr;
}

void AttachedWorker::detach() {
  if (leave_if_child()) return;
  place_->finish();
  place_.reset();
}

void AttachedWorker::fail(std::exception_ptr failure) noexcept {
  if (leave_if_child()) return;
  // std::current_exception() returns null if no exception is handled.
  if (failure == nullptr) failure = std::make_exception_ptr(Error("an attached worker has failed"));
  place_->report(std::move(failure));
  place_.reset();
}

}  // namespace lapse
