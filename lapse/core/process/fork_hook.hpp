// Runs code in children made by fork.
#pragma once

#include "lapse/core/export.hpp"

namespace lapse {

// During its lifetime, f(context) is called in each child made by fork, before fork returns there. No other
// thread runs in the child, and a lock that another thread of the parent held is locked there indefinitely,
// so f must take none. Does not notice children made by vfork, posix_spawn or clone.
//
// Thread safety: any thread.
class LAPSE_EXPORT_INNER ForkHook {
 public:
  ForkHook(void (*f)(void* context) noexcept, void* context);
  ~ForkHook();
  ForkHook(const ForkHook&) = delete;
  ForkHook& operator=(const ForkHook&) = delete;

 private:
  friend struct ForkHooks;

  void (*f_)(void*) noexcept;
  void* context_;
  ForkHook* next_ = nullptr;
  ForkHook* before_ = nullptr;
};

}  // namespace lapse
