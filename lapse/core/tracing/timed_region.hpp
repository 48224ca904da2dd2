// Marks where a thread spends its time, for the tools of the application and for traces.
#pragma once

#include <atomic>
#include <memory>

#include "lapse/core/export.hpp"
#include "lapse/core/hooks.hpp"

namespace lapse {

class RegionTrace;

// Who is notified of regions; the trace may be null.
struct RegionListeners {
  std::shared_ptr<const Hooks> hooks;
  std::shared_ptr<RegionTrace> trace;
};

// From its construction to its destruction, which are on one thread. Costs a load where nothing listens.
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

  // Of the regions that begin from now on; null: none. Any thread.
  static void set_listeners(std::shared_ptr<const RegionListeners> listeners);

 private:
  void begin(const char* name);
  void end() noexcept;

  static std::atomic<bool> listened_to_;

  const char* name_ = nullptr;
  std::shared_ptr<const RegionListeners> listeners_;  // those that its beginning was announced to
};

}  // namespace lapse
