#include "lapse/core/process/fork_hook.hpp"

#include <pthread.h>

#include <memory>

#include "lapse/core/mutex.hpp"

namespace lapse {

// This process's hooks, and the functions registered with the C library around fork.
struct ForkHooks {
  Mutex mutex;
  ForkHook* first LAPSE_GUARDED_BY(mutex) = nullptr;

  ForkHooks() { pthread_atfork(&before_fork, &in_parent, &in_child); }

  // Lives until the process ends.
  static ForkHooks& of_process() {
    static auto& hooks = *std::make_unique<ForkHooks>().release();
    return hooks;
  }

  // Held while fork runs, so that the list in the child is consistent.
  static void before_fork() LAPSE_NO_THREAD_SAFETY_ANALYSIS { of_process().mutex.lock(); }
  static void in_parent() LAPSE_NO_THREAD_SAFETY_ANALYSIS { of_process().mutex.unlock(); }
  static void in_child() LAPSE_NO_THREAD_SAFETY_ANALYSIS {
    ForkHooks& hooks = of_process();
    for (const ForkHook* hook = hooks.first; hook != nullptr; hook = hook->next_) hook->f_(hook->context_);
    hooks.mutex.unlock();
  }
};

ForkHook::ForkHook(void (*f)(void* context) noexcept, void* context) : f_(f), context_(context) {
  ForkHooks& hooks = ForkHooks::of_process();
  const MutexLock guard(hooks.mutex);
  next_ = hooks.first;
  if (next_ != nullptr) next_->before_ = this;
  hooks.first = this;
}

ForkHook::~ForkHook() {
  ForkHooks& hooks = ForkHooks::of_process();
  const MutexLock guard(hooks.mutex);
  if (next_ != nullptr) next_->before_ = before_;
  (before_ != nullptr ? before_->next_ : hooks.first) = next_;
}

}  // namespace lapse
