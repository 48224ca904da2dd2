// Seats the workers of stages on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/ps/phase/slot_control.hpp"
#include "lapse/stage/part_of_rank.hpp"
#include "lapse/stage/scheduler_host.hpp"
#include "lapse/stage/task.hpp"
#include "lapse/stage/task_result.hpp"

namespace lapse::stage {

// Carries out the scheduler's messages, and reports to it; on rank 0, gives it the reports of all ranks. It
// decides nothing.
//
// Thread safety: the holder of the progress lock; cancel, local, stop_requested, seed: any thread; other
// functions between runs.
class StageRunner final : public SlotControl {
 public:
  // `host`: null except on rank 0.
  StageRunner(SchedulerHost* host, std::function<bool()> stop_requested, std::uint64_t seed)
      : host_(host), stop_requested_(std::move(stop_requested)), seed_(seed) {}

  void add(Task task, TaskResult result);
  std::uint64_t tasks() const { return results_.size(); }
  const TaskResult& result(std::uint64_t task) const { return results_.at(task); }
  // Before a run.
  void prepare(const RunSlots& run) { run_ = run; }
  // After a run, by an exception or not.
  void close();
  // How the last run has ended.
  RunEnd end() const { return end_; }
  // Between runs.
  void set_result(std::uint64_t task, const TaskResult& result) { results_.at(task) = result; }

  // The task exists.
  void cancel(std::uint64_t task);
  bool stop_requested() const { return stop_requested_(); }
  std::uint64_t seed() const { return seed_; }
  // The object of this type for a task and slot, which make() makes if there is none.
  void* local(std::uint64_t task, std::uint32_t slot, const std::type_info& type,
              const std::function<std::shared_ptr<void>()>& make);

  // --- SlotControl
  void begin(Slots& slots, GroupNumber last) override LAPSE_REQUIRES(progress_role);
  void handle_message(Rank from, std::span<const std::byte> message) override LAPSE_REQUIRES(progress_role);
  void handle_end(const GroupPartEnd& end) override LAPSE_REQUIRES(progress_role);
  // That tasks are to be cancelled.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);

 private:
  void seat(const SeatMessage& message) LAPSE_REQUIRES(progress_role);
  void end_task(const TaskEndMessage& end) LAPSE_REQUIRES(progress_role);
  void end_run(const RunEndMessage& end) LAPSE_REQUIRES(progress_role);
  SchedulerHost& host() const;

  SchedulerHost* const host_;
  const std::function<bool()> stop_requested_;
  const std::uint64_t seed_;
  std::deque<Task> tasks_;  // stay where they are
  std::vector<TaskResult> results_;
  RunSlots run_;
  RunEnd end_ = RunEnd::finished;
  // of a run
  Slots* slots_ = nullptr;
  std::map<GroupNumber, std::shared_ptr<PartOfRank>> parts_;
  // of any thread
  Mutex mutex_;
  Slots* open_slots_ LAPSE_GUARDED_BY(mutex_) = nullptr;  // null outside a run
  std::vector<std::uint64_t> to_cancel_ LAPSE_GUARDED_BY(mutex_);
  Submission cancel_;
  bool cancel_submitted_ LAPSE_GUARDED_BY(mutex_) = false;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::type_index>, std::shared_ptr<void>> locals_
      LAPSE_GUARDED_BY(mutex_);
};

}  // namespace lapse::stage
