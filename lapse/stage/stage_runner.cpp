#include "lapse/stage/stage_runner.hpp"

#include <fmt/format.h>

#include <utility>

#include "lapse/core/error.hpp"

namespace lapse::stage {

void StageRunner::add(Task task, TaskResult result) {
  tasks_.push_back(std::move(task));
  results_.push_back(std::move(result));
}

SchedulerHost& StageRunner::host() const {
  if (host_ == nullptr) throw ProtocolError("a message to the scheduler on a rank that has none");
  return *host_;
}

// --- any thread

void StageRunner::cancel(std::uint64_t task) {
  const MutexLock guard(mutex_);
  to_cancel_.push_back(task);
  if (open_slots_ == nullptr || std::exchange(cancel_submitted_, true)) return;
  open_slots_->submit(cancel_);
}

void* StageRunner::local(std::uint64_t task, std::uint32_t slot, const std::type_info& type,
                         const std::function<std::shared_ptr<void>()>& make) {
  const std::tuple key(task, slot, std::type_index(type));
  {
    const MutexLock guard(mutex_);
    if (const auto found = locals_.find(key); found != locals_.end()) return found->second.get();
  }
  std::shared_ptr<void> made = make();  // The application's code.
  const MutexLock guard(mutex_);
  return locals_.try_emplace(key, std::move(made)).first->second.get();
}

// --- the run

void StageRunner::begin(Slots& slots, GroupNumber last) {
  slots_ = &slots;
  end_ = RunEnd::finished;
  {
    const MutexLock guard(mutex_);
    open_slots_ = &slots;
    cancel_submitted_ = false;
  }
  if (host_ != nullptr) host_->begin(slots, run_, last);
  handle_submission(cancel_);
}

void StageRunner::close() {
  parts_.clear();
  const MutexLock guard(mutex_);
  open_slots_ = nullptr;
}

void StageRunner::handle_submission(Submission&) {
  std::vector<std::uint64_t> tasks;
  {
    const MutexLock guard(mutex_);
    cancel_submitted_ = false;
    if (open_slots_ == nullptr) return;
    tasks = std::exchange(to_cancel_, {});
  }
  for (const std::uint64_t task : tasks) {
    const std::string bytes = to_bytes(CancelMessage{.task = task});
    slots_->send(Rank(0), std::as_bytes(std::span(bytes)));
  }
}

void StageRunner::handle_message(Rank, std::span<const std::byte> message) {
  switch (kind_of(message)) {
    case MessageKind::seat:
      return seat(from_bytes<SeatMessage>(message));
    case MessageKind::part_report:
      return host().take_report(from_bytes<PartReport>(message));
    case MessageKind::cancel:
      return host().cancel(from_bytes<CancelMessage>(message).task);
    case MessageKind::abort: {
      const auto abort = from_bytes<AbortMessage>(message);
      return slots_->abort(abort.group, abort.text);
    }
    case MessageKind::task_end:
      return end_task(from_bytes<TaskEndMessage>(message));
    case MessageKind::run_end:
      return end_run(from_bytes<RunEndMessage>(message));
  }
  throw ProtocolError("a message about stages of an unknown kind");
}

void StageRunner::seat(const SeatMessage& message) {
  for (const GroupNumber group : message.retired) slots_->retire(group);
  const SeatPart& seat = message.part;
  if (seat.task >= tasks_.size() || seat.stage >= tasks_[seat.task].stages.size())
    throw ProtocolError("a seat in a stage that does not exist");
  GroupInSlots group{.number = seat.group, .seats = {}, .work = {}};
  std::vector<std::uint32_t> own;
  for (const SlotsOfRank& place : seat.places) {
    group.seats.push_back({.rank = Rank(place.rank), .slots = place.slots});
    if (Rank(place.rank) == slots_->rank()) own = place.slots;
  }
  const auto part = std::make_shared<PartOfRank>(*this, tasks_[seat.task], seat, std::move(own));
  parts_[seat.group] = part;
  group.work = [part](Worker& worker) { part->run(worker); };
  slots_->seat(std::move(group));
}

void StageRunner::handle_end(const GroupPartEnd& end) {
  const auto part = parts_.extract(end.number);
  const PartOfRank::Measured measured = part.mapped()->measured();
  PartReport report{.group = end.number,
                    .failed = end.failure.has_value(),
                    .origin = 0,
                    .text = {},
                    .iteration_seconds = measured.iteration_seconds,
                    .preparation_seconds = measured.preparation_seconds,
                    .ends_task = measured.ends_task};
  if (end.failure) {
    report.origin = end.failure->origin().value();
    report.text = end.failure->text();
  }
  const std::string bytes = to_bytes(report);
  slots_->send(Rank(0), std::as_bytes(std::span(bytes)));
}

void StageRunner::end_task(const TaskEndMessage& end) {
  results_.at(end.task) = end.result;
  const MutexLock guard(mutex_);
  std::erase_if(locals_, [&](const auto& local) { return std::get<0>(local.first) == end.task; });
}

void StageRunner::end_run(const RunEndMessage& end) {
  for (const TaskEndMessage& left : end.left) results_.at(left.task) = left.result;
  end_ = end.end;
  {
    const MutexLock guard(mutex_);
    open_slots_ = nullptr;
  }
  slots_->end(end.last_group);
}

}  // namespace lapse::stage
