// One thread at a time inside MPI, process-wide.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "lapse/core/lock_role.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Held by the thread that holds the MPI lock, of which a process has one. Every function that calls MPI
// requires it, check_mpi among them, so clang finds an MPI call outside the lock.
inline constexpr LockRole mpi_role;

// Lets all instances of a process work with MPI_THREAD_SERIALIZED.
//
// Thread safety: any thread. A leaf lock: it is held around MPI calls only; nothing else is locked, and no
// user code runs, while it is held. Its holder does not wait for another rank (collectives.hpp polls
// instead).
//
// A process may contain several copies of this library, such as that of a program and that of a plugin: they
// find one lock, made by the first of them, which lasts as long as the process. So its layout changes only
// together with kLayout. An attribute of MPI_COMM_SELF lets MPI_Finalize report instances that are still
// open.
class MpiLock {
 public:
  // Of the members below, and of what their values mean.
  static constexpr int kLayout = 1;

  // The lock of this process; made by the first call. Throws MpiStateError when MPI is being finalized, or
  // when another copy of the library has made a lock of another layout. MPI is initialised, and no other
  // thread is inside MPI outside the lock.
  static MpiLock& of_process();

  // `process`: the rank in MPI_COMM_WORLD, for what is logged.
  explicit MpiLock(Rank process = Rank(0)) : process_(process) {}
  MpiLock(const MpiLock&) = delete;
  MpiLock& operator=(const MpiLock&) = delete;

  void lock() LAPSE_ACQUIRE(mpi_role) {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) [[unlikely]] {
      lock_contended();
    }
    mpi_role.acquire();
  }

  bool try_lock() LAPSE_TRY_ACQUIRE(true, mpi_role) {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
      return false;
    }
    mpi_role.acquire();
    return true;
  }

  void unlock() LAPSE_RELEASE(mpi_role) {
    mpi_role.release();
    if (state_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) [[unlikely]] {
      wake_sleeper();
    }
  }

  // An instance that must be closed before MPI_Finalize begins, and its end. attach is true for the first
  // instance of the process.
  bool attach() {
    open_instances_.fetch_add(1, std::memory_order_relaxed);
    return !used_.exchange(true, std::memory_order_relaxed);
  }
  void detach() { open_instances_.fetch_sub(1, std::memory_order_relaxed); }

  // The thread that has the lock for calls of the application, and whether the calling one is it: there is
  // one at most.
  static void set_application_thread(std::thread::id thread);
  static bool is_application_thread();
  // Throws UsageError where the calling thread would wait for itself.
  static void refuse_application_thread(const char* call);

  // MPI_Finalize has begun: MPI must not be called any more.
  bool finalized() const { return finalized_.load(std::memory_order_acquire); }

  // Called by MPI_Finalize: logs one error when instances are still open.
  void finalize();

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kHeldWithSleepers = 2;

  // Spins while an MPI call is short, then gives way, then sleeps. Takes the state only, not the role.
  void lock_contended() LAPSE_NO_THREAD_SAFETY_ANALYSIS;

  void wake_sleeper();

  const Rank process_;
  alignas(64) std::atomic<std::uint32_t> state_{kFree};
  alignas(64) std::atomic<std::int32_t> open_instances_{0};
  std::atomic<bool> finalized_{false};
  std::atomic<bool> used_{false};
};

// Holds the MPI lock as long as it lives.
class LAPSE_SCOPED_CAPABILITY MpiGuard {
 public:
  explicit MpiGuard(MpiLock& lock) LAPSE_ACQUIRE(mpi_role) : lock_(lock) { lock_.lock(); }
  ~MpiGuard() LAPSE_RELEASE() { lock_.unlock(); }
  MpiGuard(const MpiGuard&) = delete;
  MpiGuard& operator=(const MpiGuard&) = delete;

 private:
  MpiLock& lock_;
};

}  // namespace lapse
