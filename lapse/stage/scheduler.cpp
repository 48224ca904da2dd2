#include "lapse/stage/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lapse/core/error.hpp"

namespace lapse::stage {

std::uint64_t Scheduler::add(TaskSpec added) {
  Task task;
  for (const StageSpec& stage : added.stages) task.result.stages.push_back({.name = stage.name});
  task.iteration_seconds.resize(added.stages.size());
  task.spec = std::move(added);
  tasks_.push_back(std::move(task));
  return tasks_.size() - 1;
}

std::vector<Effect> Scheduler::on(const Event& event, Time now) {
  Effects effects;
  std::visit([&](const auto& one) { handle(one, now, effects); }, event);
  if (!is_running_) return effects;
  release_tasks(now, effects);
  if (!is_stopping_) seat_ready(now, effects);
  if (!parts_.empty()) return effects;
  const bool left =
      std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return !task.result.has_ended(); });
  if (left && !is_stopping_) throw ProtocolError("a task is left that no slots can run");
  is_running_ = false;
  effects.emplace_back(RunEnded{.stopped = left, .next_group = next_group_});
  return effects;
}

// --- events

void Scheduler::handle(const RunBegin& event, Time now, Effects&) {
  run_ = event.slots;
  slots_.clear();
  for (const std::size_t slots : run_.slots) slots_.emplace_back(slots, GroupNumber{0});
  starving_.clear();
  lock_.reset();
  next_group_ = event.first_group;
  is_running_ = true;
  is_stopping_ = event.stops;
  for (Task& task : tasks_) task.ready_since = now;
}

void Scheduler::handle(const PartEnd& event, Time now, Effects& effects) {
  const auto found = parts_.find(event.group);
  if (found == parts_.end())
    throw ProtocolError(fmt::format("the end of group {}, which is not in progress", event.group));
  const Part part = std::move(found->second);
  parts_.erase(found);
  for (const SlotsOfRank& place : part.seat.places)
    for (const std::uint32_t slot : place.slots) slots_[static_cast<std::size_t>(place.rank)][slot] = 0;
  Task& task = tasks_[part.seat.task];
  count_part(task, part, event, now);
  task.result.state = TaskState::ready;
  task.ready_since = now;
  if (task.cancel_requested)
    return end_task(part.seat.task, TaskState::cancelled, 0, "cancelled by a call", effects);
  if (event.failure) {
    return end_task(part.seat.task, TaskState::failed, event.failure->origin, event.failure->text, effects);
  }
  task.next_iteration = part.seat.end_iteration;
  if (!advance(task) || event.ends_task) end_task(part.seat.task, TaskState::done, 0, {}, effects);
}

void Scheduler::handle(const CancelTask& event, Time, Effects& effects) {
  if (event.task >= tasks_.size()) throw ProtocolError("a task is cancelled that does not exist");
  Task& task = tasks_[event.task];
  if (task.result.has_ended() || task.cancel_requested) return;
  if (task.result.state != TaskState::running)
    return end_task(event.task, TaskState::cancelled, 0, "cancelled by a call", effects);
  task.cancel_requested = true;
  for (const auto& [group, part] : parts_)
    if (part.seat.task == event.task)
      effects.emplace_back(AbortPart{.group = group, .rank = part.seat.places.front().rank});
}

void Scheduler::handle(const StopRun&, Time, Effects&) {
  is_stopping_ = true;
}

void Scheduler::count_part(Task& task, const Part& part, const PartEnd& end, Time now) {
  const std::uint32_t stage = part.seat.stage;
  const double seconds = std::chrono::duration<double>(now - part.began).count();
  const auto workers = static_cast<std::uint32_t>(part.seat.workers());
  StageResult& result = task.result.stages[stage];
  ++result.parts;
  result.iterations += part.seat.end_iteration - part.seat.first_iteration;
  result.seconds += seconds;
  result.worker_seconds += seconds * workers;
  result.workers = workers;
  if (end.failure || end.iteration_seconds <= 0 || settings_.deterministic) return;
  task.iteration_seconds[stage] = end.iteration_seconds;
  // A part that moves to other data has to get its parameters there: at most a tenth of the time.
  if (seconds > 0) {
    task.rotate_every = std::max<std::uint64_t>(
        1,
        static_cast<std::uint64_t>(std::ceil(std::min(1000.0, end.preparation_seconds / (0.1 * seconds)))));
  }
  if (!is_tuned(task)) return;
  ParallelismTuner& tuner = tuner_of(task);
  if (tuner.workers() == workers) tuner.record(end.iteration_seconds);
}

bool Scheduler::advance(Task& task) {
  if (task.next_iteration < stage_of(task).iterations) return true;
  task.next_iteration = 0;
  if (++task.stage < task.spec.stages.size()) return true;
  task.stage = 0;
  ++task.epoch;
  task.result.epochs = task.epoch;
  return task.epoch < task.spec.repeat;
}

void Scheduler::end_task(std::uint64_t number, TaskState state, std::int32_t origin, const std::string& text,
                         Effects& effects) {
  Task& task = tasks_[number];
  task.result.state = state;
  task.result.origin = origin;
  task.result.text = text;
  std::erase(starving_, number);
  if (lock_ && lock_->task == number) lock_.reset();
  effects.emplace_back(TaskEnd{.task = number, .result = task.result});
}

void Scheduler::release_tasks(Time now, Effects& effects) {
  // A task follows only earlier ones.
  for (std::uint64_t number = 0; number < tasks_.size(); ++number) {
    Task& task = tasks_[number];
    if (task.result.state != TaskState::waiting) continue;
    bool is_ready = true;
    for (const std::uint64_t before : task.spec.after) {
      const TaskResult& other = tasks_[before].result;
      is_ready &= other.state == TaskState::done;
      if (!other.has_ended() || other.state == TaskState::done) continue;
      end_task(number, TaskState::cancelled, 0,
               fmt::format("task '{}', which it follows, {}", tasks_[before].spec.name,
                           other.state == TaskState::failed ? "has failed: " + other.text : "is cancelled"),
               effects);
      break;
    }
    if (!is_ready || task.result.has_ended()) continue;
    task.result.state = TaskState::ready;
    task.ready_since = now;
  }
}

// --- decisions

double Scheduler::priority(const Task& task, Time now) const {
  const double given = stage_of(task).priority;
  if (settings_.deterministic) return given;
  return given + static_cast<double>((now - task.ready_since).count()) /
                     static_cast<double>(std::max<std::int64_t>(settings_.aging.count(), 1));
}

void Scheduler::list_starving(Time now) {
  struct Starving {
    double by;  // over the limit, in priority
    std::uint64_t task;
  };
  std::vector<Starving> more;
  for (std::uint64_t number = 0; number < tasks_.size(); ++number) {
    const Task& task = tasks_[number];
    if (task.result.state != TaskState::ready || std::ranges::find(starving_, number) != starving_.end())
      continue;
    const double by = priority(task, now) - settings_.starving;
    if (by >= 0) more.push_back({.by = by, .task = number});
  }
  // All rise equally fast: the one that is over by most was there first.
  std::ranges::stable_sort(more, [](const Starving& a, const Starving& b) { return a.by > b.by; });
  for (const Starving& one : more) starving_.push_back(one.task);
}

void Scheduler::seat_ready(Time now, Effects& effects) {
  list_starving(now);
  while (!starving_.empty() && seat_first_starving(now, effects)) {
  }
  std::vector<RankCapacity> ranks = capacities(false);
  const auto is_full = [&] {
    return std::ranges::all_of(ranks, [](const RankCapacity& rank) { return rank.free == 0; });
  };
  if (is_full()) return;
  for (const std::uint64_t number : others(now)) {
    const auto places = places_of(tasks_[number], ranks);
    if (!places) continue;
    seat(number, *places, now, effects);
    ranks = capacities(false);
    if (is_full()) return;
  }
}

bool Scheduler::seat_first_starving(Time now, Effects& effects) {
  const std::uint64_t number = starving_.front();
  if (!lock_) {
    const auto places = places_of(tasks_[number], capacities(true));
    if (!places) throw ProtocolError("a starving task does not fit the slots of the run");
    lock_.emplace(Lock{.task = number, .places = *places});
  }
  for (const Place& place : lock_->places) {
    const auto& slots = slots_[static_cast<std::size_t>(place.rank)];
    if (std::ranges::count(slots, GroupNumber{0}) < place.workers) return false;
  }
  const std::vector<Place> places = std::move(lock_->places);
  lock_.reset();
  seat(number, places, now, effects);
  return true;
}

std::vector<std::uint64_t> Scheduler::others(Time now) const {
  std::vector<std::uint64_t> order;
  for (const std::uint64_t number : starving_)
    if (!lock_ || lock_->task != number) order.push_back(number);
  const auto first = static_cast<std::ptrdiff_t>(order.size());
  for (std::uint64_t number = 0; number < tasks_.size(); ++number) {
    if (tasks_[number].result.state == TaskState::ready &&
        std::ranges::find(starving_, number) == starving_.end())
      order.push_back(number);
  }
  std::stable_sort(order.begin() + first, order.end(), [&](std::uint64_t a, std::uint64_t b) {
    return priority(tasks_[a], now) > priority(tasks_[b], now);
  });
  return order;
}

std::vector<RankCapacity> Scheduler::capacities(bool all_free) const {
  std::vector<RankCapacity> ranks;
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    const std::size_t slots = slots_[rank].size();
    const auto free = static_cast<std::size_t>(std::ranges::count(slots_[rank], GroupNumber{0}));
    ranks.push_back({.slots = slots, .free = all_free ? slots : free, .domain = run_.domains[rank]});
  }
  if (lock_ && !all_free) {
    for (const Place& place : lock_->places) {
      std::size_t& free = ranks[static_cast<std::size_t>(place.rank)].free;
      free -= std::min(free, static_cast<std::size_t>(place.workers));
    }
  }
  return ranks;
}

std::optional<std::vector<Place>> Scheduler::places_of(const Task& task,
                                                       const std::vector<RankCapacity>& ranks) {
  const Workers& workers = stage_of(task).workers;
  std::vector<Place> given;
  if (workers.kind() == Workers::Kind::places) {
    given = workers.places();
    std::ranges::sort(given, {}, &Place::rank);
  } else if (workers.kind() == Workers::Kind::all_slots) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (const std::size_t slots = ranks[rank].slots; slots > 0)
        given.push_back(
            {.rank = static_cast<std::int32_t>(rank), .workers = static_cast<std::int32_t>(slots)});
  } else {
    return place({.workers = workers_of(task),
                  .data_bytes = task.spec.data_bytes,
                  .history = task.history,
                  .stay = task.history.stayed() > 0 && task.history.stayed() < task.rotate_every},
                 ranks);
  }
  for (const Place& one : given)
    if (static_cast<std::size_t>(one.workers) > ranks[static_cast<std::size_t>(one.rank)].free)
      return std::nullopt;
  return given;
}

void Scheduler::seat(std::uint64_t number, const std::vector<Place>& places, Time now, Effects& effects) {
  Task& task = tasks_[number];
  const std::uint64_t iterations = iterations_of_part(task);
  const double waited = priority(task, now);
  const bool starved = std::ranges::find(starving_, number) != starving_.end();
  task.history.use(places);
  task.result.state = TaskState::running;
  std::erase(starving_, number);
  SeatPart seat{.group = next_group_++,
                .task = number,
                .stage = task.stage,
                .epoch = task.epoch,
                .first_iteration = task.next_iteration,
                .end_iteration = task.next_iteration + iterations,
                .places = {},
                .priority = waited,
                .is_starving = starved};
  for (const Place& place : places) {
    SlotsOfRank taken{.rank = place.rank, .slots = {}};
    std::vector<GroupNumber>& slots = slots_[static_cast<std::size_t>(place.rank)];
    for (std::uint32_t slot = 0; std::ssize(taken.slots) < place.workers; ++slot) {
      if (slots[slot] != 0) continue;
      slots[slot] = seat.group;
      taken.slots.push_back(slot);
    }
    seat.places.push_back(std::move(taken));
  }
  effects.emplace_back(seat);
  const GroupNumber group = seat.group;
  parts_.emplace(group, Part{.seat = std::move(seat), .began = now});
}

// --- automatic numbers of workers

bool Scheduler::is_tuned(const Task& task) const {
  return stage_of(task).workers.kind() == Workers::Kind::automatic && !settings_.deterministic;
}

ParallelismTuner& Scheduler::tuner_of(const Task& task) {
  const std::size_t most = std::max<std::size_t>(1, std::min(run_.total(), run_.processors));
  // Tasks without a name have nothing in common.
  const std::string name =
      task.spec.name.empty() ? fmt::format("{}", &task - tasks_.data()) : "'" + task.spec.name;
  return tuners_.try_emplace(fmt::format("{}\n{}\n{}", name, stage_of(task).name, most), most).first->second;
}

std::size_t Scheduler::workers_of(const Task& task) {
  const StageSpec& stage = stage_of(task);
  if (stage.workers.kind() == Workers::Kind::number) return static_cast<std::size_t>(stage.workers.number());
  const std::size_t of_rank = *std::ranges::max_element(run_.slots);
  if (settings_.deterministic) return of_rank;
  ParallelismTuner& tuner = tuner_of(task);
  if (!tuner.is_searching()) return tuner.workers();
  // A search would not pay.
  if (stage.iterations < 8 * settings_.min_iterations)
    return tuner.best().value_or(std::min(of_rank, tuner.max_workers()));
  return tuner.workers();
}

std::uint64_t Scheduler::iterations_of_part(const Task& task) {
  const StageSpec& stage = stage_of(task);
  const std::uint64_t left = stage.iterations - task.next_iteration;
  if (stage.iterations == 0 || settings_.deterministic || settings_.part_time.count() == 0) return left;
  const std::uint64_t least = std::min(left, settings_.min_iterations);
  const bool searches =
      is_tuned(task) && stage.iterations >= 8 * settings_.min_iterations && tuner_of(task).is_searching();
  const double seconds = task.iteration_seconds[task.stage];
  if (searches || seconds <= 0) return least;
  const double fitting = std::chrono::duration<double>(settings_.part_time).count() / seconds;
  if (fitting >= static_cast<double>(left)) return left;
  return std::max(least, static_cast<std::uint64_t>(fitting));
}

}  // namespace lapse::stage
