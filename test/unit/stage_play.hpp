// A scheduler whose invariants are checked after each event, on slots of a run that are only counted.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lapse/stage/scheduler.hpp"
#include "test/support/catch.hpp"

namespace lapse::stage::test {

inline StageSpec stage_of(std::string name, Workers workers, std::uint64_t iterations = 0,
                          double priority = 0) {
  return {
      .name = std::move(name), .workers = std::move(workers), .iterations = iterations, .priority = priority};
}

inline TaskSpec task_of(std::string name, std::vector<StageSpec> stages,
                        std::vector<std::uint64_t> after = {}) {
  TaskSpec task;
  task.name = std::move(name);
  task.stages = std::move(stages);
  task.after = std::move(after);
  return task;
}

// Slots of each rank; each rank is a domain.
inline RunSlots slots_of(std::vector<std::size_t> slots) {
  RunSlots run{.slots = std::move(slots), .domains = {}, .processors = 0};
  for (std::size_t rank = 0; rank < run.slots.size(); ++rank)
    run.domains.push_back(static_cast<std::int32_t>(rank));
  run.processors = run.total();
  return run;
}

class Play {
 public:
  explicit Play(RunSlots slots, const SchedulerSettings& settings = {})
      : slots_(std::move(slots)), scheduler_(settings), replay_(settings) {}

  std::uint64_t add(const TaskSpec& task) {
    REQUIRE_FALSE(defect(task, scheduler_.tasks(), static_cast<std::int32_t>(slots_.slots.size())));
    REQUIRE_FALSE(misfit(task, slots_));
    replay_.add(task);
    return scheduler_.add(task);
  }
  void begin() { on(RunBegin{.slots = slots_, .first_group = next_group_}); }
  void wait(std::chrono::milliseconds time) { now_ += time; }
  void end(GroupNumber group, double iteration_seconds = 0, double preparation_seconds = 0) {
    on(PartEnd{.group = group,
               .failure = {},
               .iteration_seconds = iteration_seconds,
               .preparation_seconds = preparation_seconds});
  }
  void fail(GroupNumber group, std::string text) {
    on(PartEnd{.group = group, .failure = TaskFailure{.origin = 0, .text = std::move(text)}});
  }
  // Of the task; requires that it runs.
  const SeatPart& part(std::uint64_t task) const {
    for (const auto& [group, seat] : running_)
      if (seat.task == task) return seat;
    FAIL("task " << task << " does not run");
    std::abort();
  }
  bool runs(std::uint64_t task) const {
    for (const auto& [group, seat] : running_)
      if (seat.task == task) return true;
    return false;
  }
  void end_part_of(std::uint64_t task, double iteration_seconds = 0) {
    end(part(task).group, iteration_seconds);
  }

  void on(const Event& event) {
    if (const auto* const ended = std::get_if<PartEnd>(&event)) running_.erase(ended->group);
    const std::vector<Effect> effects = scheduler_.on(event, now_);
    aborted_.clear();
    for (const Effect& effect : effects) std::visit([this](const auto& one) { take(one); }, effect);
    // T8: equal events at equal times have equal effects.
    REQUIRE(replay_.on(event, now_).size() == effects.size());
    check_slots();
  }

  Scheduler& scheduler() { return scheduler_; }
  const TaskResult& result(std::uint64_t task) const { return scheduler_.result(task); }
  const std::map<GroupNumber, SeatPart>& running() const { return running_; }
  const std::vector<GroupNumber>& aborted() const { return aborted_; }
  bool has_ended() const { return ended_; }
  bool stopped() const { return stopped_; }
  Time now() const { return now_; }
  const RunSlots& slots() const { return slots_; }
  // By task: how often each has ended.
  const std::map<std::uint64_t, int>& ends() const { return ends_; }

 private:
  void take(const SeatPart& seat) {
    REQUIRE(seat.group == next_group_);
    ++next_group_;
    const TaskSpec& task = scheduler_.spec(seat.task);
    // T2: the parts of a task follow each other without a gap, each once.
    Progress& progress = progress_[seat.task];
    REQUIRE(seat.epoch == progress.epoch);
    REQUIRE(seat.stage == progress.stage);
    REQUIRE(seat.first_iteration == progress.iteration);
    const std::uint64_t iterations = task.stages[seat.stage].iterations;
    REQUIRE(seat.end_iteration <= iterations);
    REQUIRE((seat.end_iteration > seat.first_iteration || iterations == 0));
    progress.iteration = seat.end_iteration;
    if (progress.iteration == iterations) {
      progress.iteration = 0;
      progress.stage = (progress.stage + 1) % static_cast<std::uint32_t>(task.stages.size());
      if (progress.stage == 0) ++progress.epoch;
    }
    for (const std::uint64_t before : task.after) REQUIRE(result(before).state == TaskState::done);
    REQUIRE_FALSE(runs(seat.task));
    running_.emplace(seat.group, seat);
  }
  void take(const AbortPart& abort) { aborted_.push_back(abort.group); }
  void take(const TaskEnd& end) {
    REQUIRE(++ends_[end.task] == 1);
    REQUIRE(end.result.has_ended());
  }
  void take(const RunEnded& end) {
    REQUIRE(running_.empty());
    REQUIRE(end.next_group == next_group_);
    ended_ = true;
    stopped_ = end.stopped;
  }
  // T1: a slot is in one group at most, and exists.
  void check_slots() const {
    std::set<std::pair<std::int32_t, std::uint32_t>> taken;
    for (const auto& [group, seat] : running_) {
      REQUIRE(seat.workers() > 0);
      for (const SlotsOfRank& place : seat.places) {
        for (const std::uint32_t slot : place.slots) {
          REQUIRE(slot < slots_.slots.at(static_cast<std::size_t>(place.rank)));
          REQUIRE(taken.emplace(place.rank, slot).second);
        }
      }
    }
  }

  struct Progress {
    std::uint64_t epoch = 0;
    std::uint32_t stage = 0;
    std::uint64_t iteration = 0;
  };

  RunSlots slots_;
  Scheduler scheduler_;
  Scheduler replay_;
  Time now_{};
  std::map<GroupNumber, SeatPart> running_;
  std::map<std::uint64_t, Progress> progress_;
  std::map<std::uint64_t, int> ends_;
  std::vector<GroupNumber> aborted_;
  GroupNumber next_group_ = 1;
  bool ended_ = false;
  bool stopped_ = false;
};

}  // namespace lapse::stage::test
