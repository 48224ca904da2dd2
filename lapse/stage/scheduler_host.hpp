// The scheduler's rank: between the scheduler's events and effects, and messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/ps/phase/slot_control.hpp"
#include "lapse/stage/messages.hpp"
#include "lapse/stage/scheduler.hpp"
#include "lapse/stage/stage_trace.hpp"

namespace lapse::stage {

// Thread safety: the holder of the progress lock; made while no engine runs.
class SchedulerHost {
 public:
  // `run_time`: see EngineOptions. `stop_requested`: whether the job is to stop; asked before each decision.
  SchedulerHost(Scheduler& scheduler, std::chrono::nanoseconds run_time, std::function<bool()> stop_requested)
      : scheduler_(scheduler), run_time_(run_time), stop_requested_(std::move(stop_requested)) {}

  // Before the first run; an empty path: none. Throws FileError.
  void trace_to(const std::string& path) { trace_.emplace(path); }

  void begin(Slots& slots, const RunSlots& run, GroupNumber last) LAPSE_REQUIRES(progress_role);
  void take_report(const PartReport& report) LAPSE_REQUIRES(progress_role);
  void cancel(std::uint64_t task) LAPSE_REQUIRES(progress_role);

 private:
  // A group in progress.
  struct Open {
    SeatPart seat;
    Time began{};
    std::size_t left = 0;  // ranks that have not reported
    PartEnd end;
  };

  // Whether no part is to begin any more.
  bool must_end();
  void decide(const Event& event) LAPSE_REQUIRES(progress_role);
  void carry_out(const SeatPart& seat) LAPSE_REQUIRES(progress_role);
  void carry_out(const AbortPart& abort) LAPSE_REQUIRES(progress_role);
  void carry_out(const TaskEnd& end) LAPSE_REQUIRES(progress_role);
  void carry_out(const RunEnded& end) LAPSE_REQUIRES(progress_role);
  template <class Message>
  void send(std::int32_t rank, const Message& message) LAPSE_REQUIRES(progress_role);
  template <class Message>
  void send_to_all(const Message& message) LAPSE_REQUIRES(progress_role);

  Scheduler& scheduler_;
  const std::chrono::nanoseconds run_time_;  // 0: no limit
  const std::function<bool()> stop_requested_;
  const Time made_ = std::chrono::steady_clock::now().time_since_epoch();
  std::optional<StageTrace> trace_;
  Slots* slots_ = nullptr;
  std::map<GroupNumber, Open> open_;
  std::vector<std::vector<GroupNumber>> retired_;  // by rank: to be sent with the next seat
  Time began_{};
  RunEnd end_ = RunEnd::finished;  // if tasks are left: why
  bool has_ended_ = false;
};

}  // namespace lapse::stage
