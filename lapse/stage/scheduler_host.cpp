#include "lapse/stage/scheduler_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "lapse/core/tracing/trace_notes.hpp"

namespace lapse::stage {

namespace {

Time now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

template <class Message>
void SchedulerHost::send(std::int32_t rank, const Message& message) {
  const std::string bytes = to_bytes(message);
  slots_->send(Rank(rank), std::as_bytes(std::span(bytes)));
}

template <class Message>
void SchedulerHost::send_to_all(const Message& message) {
  const std::string bytes = to_bytes(message);
  for (std::int32_t rank = 0; rank < slots_->ranks(); ++rank)
    slots_->send(Rank(rank), std::as_bytes(std::span(bytes)));
}

void SchedulerHost::begin(Slots& slots, const RunSlots& run, GroupNumber last) {
  slots_ = &slots;
  open_.clear();
  retired_.assign(static_cast<std::size_t>(slots.ranks()), {});
  has_ended_ = false;
  began_ = now();
  end_ = RunEnd::finished;
  decide(RunBegin{.slots = run, .first_group = last + 1, .stops = must_end()});
}

void SchedulerHost::take_report(const PartReport& report) {
  const auto found = open_.find(report.group);
  if (found == open_.end())
    throw ProtocolError(fmt::format("a report about group {}, which is not in progress", report.group));
  Open& open = found->second;
  PartEnd& end = open.end;
  end.iteration_seconds = std::max(end.iteration_seconds, report.iteration_seconds);
  end.preparation_seconds = std::max(end.preparation_seconds, report.preparation_seconds);
  end.ends_task |= report.ends_task;
  if (report.failed && !end.failure) end.failure = TaskFailure{.origin = report.origin, .text = report.text};
  if (--open.left > 0) return;
  for (const SlotsOfRank& place : open.seat.places)
    retired_[static_cast<std::size_t>(place.rank)].push_back(report.group);
  if (trace_) trace_->add(scheduler_.spec(open.seat.task), open.seat, end, open.began - made_, now() - made_);
  const TaskSpec& task = scheduler_.spec(open.seat.task);
  trace_band(fmt::format("{}: {}", task.name, task.stages[open.seat.stage].name),
             std::chrono::steady_clock::time_point(open.began), std::chrono::steady_clock::time_point(now()));
  const PartEnd ended = std::move(end);
  open_.erase(found);
  if (end_ == RunEnd::finished && must_end()) decide(StopRun{});
  decide(ended);
}

bool SchedulerHost::must_end() {
  if (stop_requested_()) {
    end_ = RunEnd::stop_requested;
  } else if (run_time_.count() > 0 && now() - began_ >= run_time_) {
    end_ = RunEnd::paused;
  }
  return end_ != RunEnd::finished;
}

void SchedulerHost::cancel(std::uint64_t task) {
  // Otherwise the message has crossed the end of the run, and all tasks have ended or the job stops.
  if (!has_ended_) decide(CancelTask{.task = task});
}

void SchedulerHost::decide(const Event& event) {
  for (const Effect& effect : scheduler_.on(event, now()))
    std::visit([this](const auto& one) LAPSE_REQUIRES(progress_role) { carry_out(one); }, effect);
}

void SchedulerHost::carry_out(const SeatPart& seat) {
  Open& open = open_[seat.group];
  open.end.group = seat.group;
  open.left = seat.places.size();
  open.seat = seat;
  open.began = now();
  for (const SlotsOfRank& place : seat.places) {
    send(place.rank,
         SeatMessage{.part = seat,
                     .retired = std::exchange(retired_[static_cast<std::size_t>(place.rank)], {})});
  }
}

void SchedulerHost::carry_out(const AbortPart& abort) {
  send(abort.rank, AbortMessage{.group = abort.group, .text = "the task is cancelled"});
}

void SchedulerHost::carry_out(const TaskEnd& end) {
  send_to_all(TaskEndMessage{.task = end.task, .result = end.result});
}

void SchedulerHost::carry_out(const RunEnded& end) {
  has_ended_ = true;
  RunEndMessage message{
      .end = end.stopped ? end_ : RunEnd::finished, .last_group = end.next_group - 1, .left = {}};
  for (std::uint64_t task = 0; task < scheduler_.tasks(); ++task)
    if (!scheduler_.result(task).has_ended())
      message.left.push_back({.task = task, .result = scheduler_.result(task)});
  send_to_all(message);
}

}  // namespace lapse::stage
