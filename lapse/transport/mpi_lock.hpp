// One thread at a time inside MPI, process-wide.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace lapse {

// Lets all instances of a process work with MPI_THREAD_SERIALIZED.
//
// Thread safety: everything. A leaf lock: it is held around MPI calls only; nothing else is locked, and no
// user code runs, while it is held. Nobody waits for another rank while holding it (mpi_collectives.hpp polls
// instead).
//
// The lock is an attribute of MPI_COMM_SELF, so that every instance of the process finds the same one, and so
// that MPI_Finalize reports instances that are still open.
class MpiLock {
 public:
  // The lock of this process; made by the first call. Throws MpiStateError when MPI is being finalized.
  // MPI is initialised, and no other thread is inside MPI outside the lock.
  static std::shared_ptr<MpiLock> of_process();

  MpiLock() = default;
  MpiLock(const MpiLock&) = delete;
  MpiLock& operator=(const MpiLock&) = delete;

  void lock() {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) [[unlikely]] {
      lock_contended();
    }
  }

  bool try_lock() {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) [[unlikely]] {
      state_.notify_one();
    }
  }

  // An instance that must be closed before MPI_Finalize begins, and its end.
  void attach() { open_instances_.fetch_add(1, std::memory_order_relaxed); }
  void detach() { open_instances_.fetch_sub(1, std::memory_order_relaxed); }

  // MPI_Finalize has begun: MPI must not be called any more.
  bool finalized() const { return finalized_.load(std::memory_order_acquire); }

  // Called by MPI_Finalize: writes one line to stderr when instances are still open.
  void finalize();

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kHeldWithSleepers = 2;

  // Spins while an MPI call is short, then gives way, then sleeps.
  void lock_contended();

  alignas(64) std::atomic<std::uint32_t> state_{kFree};
  alignas(64) std::atomic<int> open_instances_{0};
  std::atomic<bool> finalized_{false};
};

}  // namespace lapse
