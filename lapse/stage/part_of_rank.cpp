#include "lapse/stage/part_of_rank.hpp"

#include <algorithm>
#include <chrono>

#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/stage/info.hpp"
#include "lapse/stage/stage_runner.hpp"

namespace lapse::stage {

namespace {

// Keys of one call of localize.
constexpr std::uint64_t kKeysOfCall = 1 << 16;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void PartOfRank::run(Worker& worker) {
  const auto seated = std::chrono::steady_clock::now();
  {
    const TimedRegion region("lapse preparation");
    // The replicas of this domain show what the stage before has written.
    worker.wait_sync();
    if (task_.stages[seat_.stage].prepare == Prepare::integral) prepare(worker);
  }
  const double preparation = seconds_since(seated);
  const auto began = std::chrono::steady_clock::now();
  Info info(worker, *this, slots_[worker.local_index()]);
  {
    const TimedRegion region("lapse stage");
    task_.stages[seat_.stage].f(info);
  }
  double iteration = info.times_.median_seconds();
  const std::uint64_t iterations = seat_.end_iteration - seat_.first_iteration;
  if (iteration <= 0 && iterations > 0) iteration = seconds_since(began) / static_cast<double>(iterations);
  // The main copies have what this worker has written to replicas.
  worker.wait_sync();
  const MutexLock guard(mutex_);
  measured_.iteration_seconds = std::max(measured_.iteration_seconds, iteration);
  measured_.preparation_seconds = std::max(measured_.preparation_seconds, preparation);
}

PartOfRank::Measured PartOfRank::measured() const {
  const MutexLock guard(mutex_);
  Measured measured = measured_;
  measured.ends_task = ends_task_.load(std::memory_order_relaxed);
  return measured;
}

void PartOfRank::prepare(Worker& worker) const {
  for (const TableHandle& table : task_.tables) {
    if (table.is_sparse()) continue;
    const std::uint64_t keys = table.keys();
    const std::uint64_t count = worker.count();
    const std::uint64_t first = keys / count * worker.index() + std::min(keys % count, worker.index());
    const std::uint64_t end = first + keys / count + (worker.index() < keys % count ? 1 : 0);
    std::vector<Key> some;
    for (std::uint64_t begin = first; begin < end; begin += kKeysOfCall) {
      some.clear();
      for (std::uint64_t key = begin; key < std::min(end, begin + kKeysOfCall); ++key) some.emplace_back(key);
      worker.core().localize(table, some);
    }
  }
  worker.wait_all();
}

}  // namespace lapse::stage
