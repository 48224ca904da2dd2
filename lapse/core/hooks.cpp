#include "lapse/core/hooks.hpp"

#include <utility>

#include "lapse/core/current_hooks.hpp"
#include "lapse/core/mutex.hpp"

namespace lapse {

namespace {

struct HooksOfProcess {
  Mutex mutex;
  std::shared_ptr<const Hooks> hooks LAPSE_GUARDED_BY(mutex) = std::make_shared<const Hooks>();
};

// Lives as long as the process: threads may log while it ends.
HooksOfProcess& of_process() {
  static auto& hooks = *std::make_unique<HooksOfProcess>().release();
  return hooks;
}

}  // namespace

void set_hooks(Hooks hooks) {
  HooksOfProcess& process = of_process();
  const auto replaced = std::make_shared<const Hooks>(std::move(hooks));
  const MutexLock guard(process.mutex);
  process.hooks = replaced;
}

std::shared_ptr<const Hooks> current_hooks() {
  HooksOfProcess& process = of_process();
  const MutexLock guard(process.mutex);
  return process.hooks;
}

}  // namespace lapse
