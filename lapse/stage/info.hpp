// What the function of a stage gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <typeinfo>

#include "lapse/core/export.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/worker.hpp"
#include "lapse/stage/iteration_times.hpp"
#include "lapse/stage/task.hpp"

namespace lapse::stage {

class PartOfRank;

// Only the worker's thread uses it, until the function returns.
class LAPSE_EXPORT Info {
 public:
  // Internal. `slot`: of this rank.
  Info(Worker& worker, PartOfRank& part, std::uint32_t slot);
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;

  // Its collective calls are those of the workers of this part of the stage.
  Worker& worker() { return worker_; }
  std::size_t index() const { return worker_.index(); }
  std::size_t count() const { return worker_.count(); }

  // The iterations of this part, equal on all workers. A loop over them measures their times, by which the
  // engine chooses the length of parts and, for automatic stages, the number of workers.
  IterationRange iterations();
  // Which repetition of the task's stages this is, from 0.
  std::uint64_t epoch() const;
  // Depends on the engine's seed, task, stage, epoch, first iteration and index of the worker only.
  RandomEngine& random();
  // An object of the task for this slot, made by the first call, which lives until the task ends: other
  // workers of the task that take this slot later find it again. One object for each type.
  template <class T>
  T& local() {
    return *static_cast<T*>(local(typeid(T), [] { return std::shared_ptr<void>(std::make_shared<T>()); }));
  }

  // The task ends, as done, when the workers of this part have returned.
  void end_task();
  // See ParameterServer::stop_requested: a function that takes long should return early then.
  bool stop_requested() const;
  // See Engine::cancel.
  void cancel(TaskId task);

 private:
  friend class PartOfRank;

  void* local(const std::type_info& type, const std::function<std::shared_ptr<void>()>& make);

  Worker& worker_;
  PartOfRank& part_;
  const std::uint32_t slot_;
  IterationTimes times_;
  std::optional<RandomEngine> random_;
};

}  // namespace lapse::stage
