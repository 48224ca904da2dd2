#include "lapse/core/hooks.hpp"

#include <utility>

#include "lapse/core/mutex.hpp"
#include "lapse/core/tracing/current_hooks.hpp"
#include "lapse/core/tracing/region_trace.hpp"
#include "lapse/core/tracing/timed_region.hpp"

namespace lapse {

namespace {

struct HooksOfProcess {
  Mutex mutex;
  std::shared_ptr<const Hooks> hooks LAPSE_GUARDED_BY(mutex) = std::make_shared<const Hooks>();
  std::shared_ptr<RegionTrace> trace LAPSE_GUARDED_BY(mutex) = {};

  void listen_to_regions() LAPSE_REQUIRES(mutex) {
    const bool listens = trace != nullptr || hooks->begin_region || hooks->end_region;
    TimedRegion::set_listeners(
        listens ? std::make_shared<const RegionListeners>(RegionListeners{hooks, trace}) : nullptr);
  }
};

// Lives until the process ends: threads may log meanwhile.
HooksOfProcess& of_process() {
  static auto& hooks = *std::make_unique<HooksOfProcess>().release();
  return hooks;
}

}  // namespace

void set_hooks(Hooks hooks) {
  HooksOfProcess& process = of_process();
  // The previous hooks are destroyed without the lock: that may wait for a thread that logs.
  auto exchanged = std::make_shared<const Hooks>(std::move(hooks));
  const MutexLock guard(process.mutex);
  process.hooks.swap(exchanged);
  process.listen_to_regions();
}

std::shared_ptr<const Hooks> current_hooks() {
  HooksOfProcess& process = of_process();
  const MutexLock guard(process.mutex);
  return process.hooks;
}

std::shared_ptr<RegionTrace> begin_region_trace(const std::string& folder, Rank rank) {
  HooksOfProcess& process = of_process();
  const MutexLock guard(process.mutex);
  if (process.trace == nullptr || process.trace->folder() != folder)
    process.trace = std::make_shared<RegionTrace>(folder, rank);
  process.listen_to_regions();
  return process.trace;
}

}  // namespace lapse
