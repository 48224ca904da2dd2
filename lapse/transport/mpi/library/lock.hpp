// Allows one thread at a time inside MPI, process-wide.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "lapse/core/lock_role.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Held by the thread that holds the process's MPI lock. Every function that calls MPI requires it, check_mpi
// among them, so clang finds an MPI call outside the lock.
inline constexpr LockRole mpi_role;

// Lets all instances of a process work with MPI_THREAD_SERIALIZED.
//
// Thread safety: any thread. A leaf lock: held around MPI calls only; its holder takes no other lock, runs no
// user code and does not wait for another rank (collectives.hpp polls instead).
//
// A process may contain several copies of this library, such as a program's and a plugin's. They share one
// lock, made by the first of them, which lasts as long as the process; so its layout changes only together
// with kLayout. An attribute of MPI_COMM_SELF lets MPI_Finalize report instances that are still open.
class MpiLock {
 public:
  // Version of the members below and of the meaning of their values.
  static constexpr int kLayout = 1;

  // The lock of this process, made by the first call. Requires that MPI is initialised and no other thread is
  // inside MPI outside the lock. Throws MpiStateError if MPI is being finalized, or if another copy of the
  // library has made a lock of another layout.
  static MpiLock& of_process();

  // `process`: the rank in MPI_COMM_WORLD, for log messages.
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

  // Begin and end of an instance that must be closed before MPI_Finalize. attach returns true for the
  // process's first instance.
  bool attach() {
    open_instances_.fetch_add(1, std::memory_order_relaxed);
    return !used_.exchange(true, std::memory_order_relaxed);
  }
  void detach() { open_instances_.fetch_sub(1, std::memory_order_relaxed); }

  // Sets the thread that holds the lock for calls of the application (at most one), and checks whether the
  // calling thread is it.
  static void set_application_thread(std::thread::id thread);
  static bool is_application_thread();
  // Throws UsageError if the calling thread would wait for itself.
  static void refuse_application_thread(const char* call);

  // True once MPI_Finalize has begun: MPI must no longer be called.
  bool finalized() const { return finalized_.load(std::memory_order_acquire); }

  // Called by MPI_Finalize: logs one error if instances are still open.
  void finalize();

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kHeldWithSleepers = 2;

  // Spins during short MPI calls, then yields, then sleeps. Takes the state only, not the role.
  void lock_contended() LAPSE_NO_THREAD_SAFETY_ANALYSIS;

  void wake_sleeper();

  const Rank process_;
  alignas(64) std::atomic<std::uint32_t> state_{kFree};
  alignas(64) std::atomic<std::int32_t> open_instances_{0};
  std::atomic<bool> finalized_{false};
  std::atomic<bool> used_{false};
};

// Holds the MPI lock during its lifetime.
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
