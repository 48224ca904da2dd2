// What is done in a child that fork makes.
#pragma once

#include "lapse/core/export.hpp"

namespace lapse {

// While it exists, f(context) is called in each child that fork makes, before fork returns there. No other
// thread runs in the child, and a lock that another thread of the parent had is locked there indefinitely: f
// takes none. Children that vfork, posix_spawn or clone make are not noticed.
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
