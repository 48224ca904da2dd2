#include "lapse/stage/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <boost/serialization/utility.hpp>

#include "lapse/core/process/topology.hpp"
#include "lapse/ps/agreement/archive.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/stage/scheduler.hpp"
#include "lapse/stage/scheduler_host.hpp"
#include "lapse/stage/stage_runner.hpp"

namespace lapse::stage {

// What they exchange when they submit a task.
struct RankTask {
  TaskSpec spec;
  std::uint64_t data_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& spec& data_bytes;
  }
};

namespace {

// What the ranks exchange when they make an engine.
struct RankOptions {
  std::int32_t slots = 0;
  std::string binding;
  std::uint64_t processors = 0;
  // equal on all ranks
  std::int64_t aging = 0;
  double starving = 0;
  std::int64_t part_time = 0;
  std::uint64_t min_iterations = 0;
  bool deterministic = false;
  std::int64_t run_time = 0;
  std::uint64_t seed = 0;

  bool agrees_with(const RankOptions& other) const {
    return std::tie(aging, starving, part_time, min_iterations, deterministic, run_time, seed) ==
           std::tie(other.aging, other.starving, other.part_time, other.min_iterations, other.deterministic,
                    other.run_time, other.seed);
  }
  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& slots& binding& processors& aging& starving& part_time& min_iterations& deterministic& seed;
  }
};

RankOptions checked(const EngineOptions& options, Rank rank) {
  const auto require = [&](bool is_good, const std::string& what) {
    if (!is_good) throw UsageError(fmt::format("an engine of stages on rank {} {}", rank.value(), what));
  };
  require(options.slots >= 0 && options.slots <= ParameterServer::kMaxWorkers,
          fmt::format("with {} slots: expected 0 to {}", options.slots, ParameterServer::kMaxWorkers));
  require(options.aging.count() > 0,
          fmt::format("with an aging of {} ns: expected 1 at least", options.aging.count()));
  require(options.starving >= 0,
          fmt::format("that starves at priority {}: expected 0 at least", options.starving));
  require(options.part_time.count() >= 0,
          fmt::format("with parts of {} ns: expected 0 at least", options.part_time.count()));
  require(options.run_time.count() >= 0,
          fmt::format("with runs of {} ns: expected 0 at least", options.run_time.count()));
  require(options.min_iterations > 0, "with parts of 0 iterations: expected 1 at least");
  const Topology topology = Topology::detect();
  return {.slots = options.slots,
          .binding = topology.binding,
          .processors = topology.usable_hardware_threads,
          .aging = options.aging.count(),
          .starving = options.starving,
          .part_time = options.part_time.count(),
          .min_iterations = options.min_iterations,
          .deterministic = options.deterministic,
          .run_time = options.run_time.count(),
          .seed = options.seed};
}

TaskSpec spec_of(const Task& task) {
  TaskSpec spec;
  spec.name = task.name;
  spec.repeat = task.repeat;
  for (const TaskId& before : task.after) spec.after.push_back(before.number);
  for (const Stage& stage : task.stages)
    spec.stages.push_back({.name = stage.name,
                           .workers = stage.workers,
                           .iterations = stage.iterations,
                           .priority = stage.priority,
                           .has_function = static_cast<bool>(stage.f)});
  return spec;
}

std::string text_of(const TaskResult& result) {
  if (result.state == TaskState::failed)
    return fmt::format("failed on rank {}: {}", result.origin, result.text);
  return result.state == TaskState::cancelled ? "was cancelled: " + result.text : "has not ended";
}

}  // namespace

TaskFailed::TaskFailed(const std::string& task, const TaskResult& result)
    : Error(fmt::format("task '{}' {}", task, text_of(result))), result_(result) {}

class Engine::Impl {
 public:
  Impl(ParameterServer& server, const EngineOptions& options)
      : server_(server),
        slots_(options.slots),
        scheduler_({.aging = options.aging,
                    .starving = options.starving,
                    .part_time = options.part_time,
                    .min_iterations = options.min_iterations,
                    .deterministic = options.deterministic}),
        host_(scheduler_, options.run_time, [this] { return server_.stop_requested(); }),
        runner_(
            server.rank() == Rank(0) ? &host_ : nullptr, [this] { return server_.stop_requested(); },
            options.seed) {
    const auto all = server_.exchange("Engine", [&] {
      const RankOptions own = checked(options, server_.rank());
      if (server_.rank() == Rank(0)) host_.trace_to(options.trace);
      return to_archive(own);
    });
    agree(all);
  }

  TaskId submit(Task task) {
    RankTask mine{.spec = spec_of(task), .data_bytes = task.data_bytes};
    const auto all = server_.exchange("Engine::submit", [&] { return to_archive(mine); });
    std::vector<std::uint64_t> data_bytes;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto other = from_archive<RankTask>(all[rank]);
      if (!(other.spec == from_archive<RankTask>(all[0]).spec)) {
        throw CollectiveMismatch(
            fmt::format("rank {} submits task '{}' otherwise than rank 0 submits task '{}': expected equal "
                        "names, stages, workers, iterations and predecessors on all ranks",
                        rank, other.spec.name, from_archive<RankTask>(all[0]).spec.name));
      }
      data_bytes.push_back(other.data_bytes);
    }
    if (const auto problem = defect(mine.spec, runner_.tasks(), server_.ranks())) throw UsageError(*problem);
    mine.spec.data_bytes = std::move(data_bytes);
    TaskResult result;
    for (const StageSpec& stage : mine.spec.stages) result.stages.push_back({.name = stage.name});
    const std::uint64_t number = scheduler_.add(std::move(mine.spec));
    runner_.add(std::move(task), std::move(result));
    return {number};
  }

  RunEnd run() {
    if (is_running_.exchange(true))
      throw UsageError(fmt::format("run of an engine on rank {} within a run", server_.rank().value()));
    struct Running {
      std::atomic<bool>& flag;
      ~Running() { flag = false; }
    } const running{is_running_};
    for (std::uint64_t task = 0; task < runner_.tasks(); ++task) {
      if (runner_.result(task).has_ended()) continue;
      if (const auto problem = misfit(scheduler_.spec(task), run_)) throw UsageError(*problem);
    }
    runner_.prepare(run_);
    const std::array<GroupPart, 1> part{{{.workers = slots_, .work = {}, .control = &runner_}}};
    try {
      server_.run_groups(part);
    } catch (...) {
      runner_.close();
      throw;
    }
    runner_.close();
    return runner_.end();
  }

  const TaskResult& result(TaskId task) const {
    check(task);
    return runner_.result(task.number);
  }

  TaskResult submit_and_wait(Task task) {
    const std::string name = task.name;
    const TaskId id = submit(std::move(task));
    const RunEnd end = run();
    const TaskResult& ended = result(id);
    if (ended.state != TaskState::done && (ended.has_ended() || end == RunEnd::finished))
      throw TaskFailed(name, ended);
    return ended;
  }

  std::string progress() {
    server_.exchange("Engine::progress", [] { return std::string(); });
    return server_.rank() == Rank(0) ? to_archive(scheduler_.progress()) : std::string();
  }

  void resume(const std::string& progress) {
    const auto all = server_.exchange("Engine::resume", [&] { return progress; });
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank] == all[0]) continue;
      throw CollectiveMismatch(fmt::format(
          "rank {} resumes an engine from other bytes than rank 0: expected those of one checkpoint", rank));
    }
    scheduler_.resume(from_archive<SchedulerProgress>(progress));
    for (std::uint64_t task = 0; task < scheduler_.tasks(); ++task)
      runner_.set_result(task, scheduler_.result(task));
  }

  void cancel(TaskId task) {
    check(task);
    runner_.cancel(task.number);
  }

 private:
  void check(TaskId task) const {
    if (task.number < runner_.tasks()) return;
    throw UsageError(fmt::format("task {} of an engine on rank {} that has {} tasks", task.number,
                                 server_.rank().value(), runner_.tasks()));
  }

  // Every rank throws the same.
  void agree(const std::vector<std::string>& all) {
    const std::vector<std::int32_t> hosts = server_.hosts();
    std::map<std::pair<std::int32_t, std::string>, std::uint64_t> processors;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto options = from_archive<RankOptions>(all[rank]);
      if (!options.agrees_with(from_archive<RankOptions>(all[0]))) {
        throw CollectiveMismatch(fmt::format(
            "rank {} makes an engine of stages with other options than rank 0: only the number of "
            "slots may differ",
            rank));
      }
      run_.slots.push_back(static_cast<std::size_t>(options.slots));
      run_.domains.push_back(hosts[rank]);
      processors[{hosts[rank], options.binding}] = options.processors;
    }
    for (const auto& [binding, threads] : processors) run_.processors += threads;
    if (run_.total() == 0)
      throw UsageError("an engine of stages without a slot on any rank: at least one is needed");
  }

  ParameterServer& server_;
  const std::int32_t slots_;
  RunSlots run_;
  Scheduler scheduler_;  // of rank 0; on other ranks, it stores the tasks
  SchedulerHost host_;
  StageRunner runner_;
  std::atomic<bool> is_running_{false};
};

Engine::Engine(ParameterServer& server, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(server, options)) {}
Engine::~Engine() = default;

TaskId Engine::submit(Task task) {
  return impl_->submit(std::move(task));
}
RunEnd Engine::run() {
  return impl_->run();
}
const TaskResult& Engine::result(TaskId task) const {
  return impl_->result(task);
}
TaskResult Engine::submit_and_wait(Task task) {
  return impl_->submit_and_wait(std::move(task));
}
std::string Engine::progress() {
  return impl_->progress();
}
void Engine::resume(const std::string& progress) {
  impl_->resume(progress);
}
void Engine::cancel(TaskId task) {
  impl_->cancel(task);
}

}  // namespace lapse::stage
