// Marks where a thread spends its time, for the application's tools and for traces.
#pragma once

#include <atomic>
#include <memory>

#include "lapse/core/export.hpp"
#include "lapse/core/hooks.hpp"

namespace lapse {

class RegionTrace;

// Listeners to regions; the trace may be null.
struct RegionListeners {
  std::shared_ptr<const Hooks> hooks;
  std::shared_ptr<RegionTrace> trace;
};

// A region from construction to destruction, on one thread. Costs a load if nothing listens.
class LAPSE_EXPORT_INNER TimedRegion {
 public:
  // `name`: a constant.
  explicit TimedRegion(const char* name) {
    if (listened_to_.load(std::memory_order_relaxed)) [[unlikely]]
      begin(name);
  }
  ~TimedRegion() {
    if (listeners_ != nullptr) [[unlikely]]
      end();
  }
  TimedRegion(const TimedRegion&) = delete;
  TimedRegion& operator=(const TimedRegion&) = delete;

  // Sets the listeners to regions that begin from now on; null: none. Any thread.
  static void set_listeners(std::shared_ptr<const RegionListeners> listeners);

 private:
  void begin(const char* name);
  void end() noexcept;

  static std::atomic<bool> listened_to_;

  const char* name_ = nullptr;
  std::shared_ptr<const RegionListeners> listeners_;  // those notified of its beginning
};

}  // namespace lapse
