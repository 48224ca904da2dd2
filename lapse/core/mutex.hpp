// A mutex, and a guard for any lock, that clang's thread-safety analysis understands; libstdc++'s are not
// annotated.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "lapse/core/thread_annotations.hpp"

namespace lapse {

// Thread safety: any thread.
class LAPSE_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() LAPSE_ACQUIRE() { mutex_.lock(); }
  bool try_lock() LAPSE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() LAPSE_RELEASE() { mutex_.unlock(); }

  // Waits until `done` is true; called by the holder. `done` runs with the mutex held; a lambda declares
  // that:
  //   [&]() LAPSE_REQUIRES(mutex_) { return ...; }
  template <class Done>
  void wait(std::condition_variable& condition, Done done) LAPSE_REQUIRES(this) {
    std::unique_lock<std::mutex> lock(mutex_, std::adopt_lock);
    condition.wait(lock, done);
    lock.release();  // stays with the caller's guard
  }
  // Like wait, at most until `deadline`; returns done().
  template <class Done>
  bool wait_until(std::condition_variable& condition, std::chrono::steady_clock::time_point deadline,
                  Done done) LAPSE_REQUIRES(this) {
    std::unique_lock<std::mutex> lock(mutex_, std::adopt_lock);
    const bool result = condition.wait_until(lock, deadline, done);
    lock.release();
    return result;
  }

 private:
  std::mutex mutex_;
};

// Holds a lock during its lifetime. For every LAPSE_CAPABILITY class with lock() and unlock(): a mutex, a
// key's latch.
template <class Lock>
class LAPSE_SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(Lock& lock) LAPSE_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() LAPSE_RELEASE() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

using MutexLock = LockGuard<Mutex>;

}  // namespace lapse
