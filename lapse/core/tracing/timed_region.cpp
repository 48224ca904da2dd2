#include "lapse/core/tracing/timed_region.hpp"

#include <utility>

#include "lapse/core/mutex.hpp"
#include "lapse/core/tracing/region_trace.hpp"

namespace lapse {

namespace {

struct CurrentListeners {
  Mutex mutex;
  std::shared_ptr<const RegionListeners> listeners LAPSE_GUARDED_BY(mutex) = {};
};

// Lives until the process ends.
CurrentListeners& current_listeners() {
  static auto& current = *std::make_unique<CurrentListeners>().release();
  return current;
}

}  // namespace

std::atomic<bool> TimedRegion::listened_to_{false};

void TimedRegion::set_listeners(std::shared_ptr<const RegionListeners> listeners) {
  CurrentListeners& current = current_listeners();
  const MutexLock guard(current.mutex);
  listened_to_.store(listeners != nullptr, std::memory_order_relaxed);
  current.listeners.swap(listeners);
}

void TimedRegion::begin(const char* name) {
  {
    CurrentListeners& current = current_listeners();
    const MutexLock guard(current.mutex);
    listeners_ = current.listeners;
  }
  if (listeners_ == nullptr) return;
  name_ = name;
  if (listeners_->hooks->begin_region) listeners_->hooks->begin_region(name);
  if (listeners_->trace != nullptr) listeners_->trace->begin(name);
}

void TimedRegion::end() noexcept {
  if (listeners_->trace != nullptr) listeners_->trace->end(name_);
  if (listeners_->hooks->end_region) listeners_->hooks->end_region(name_);
}

}  // namespace lapse
