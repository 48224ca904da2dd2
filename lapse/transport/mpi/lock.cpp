#include "lapse/transport/mpi/lock.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/transport/mpi/error.hpp"

namespace lapse {

namespace {

using SharedLock = std::shared_ptr<MpiLock>;

// Called when MPI_Finalize frees MPI_COMM_SELF, before anything else of MPI ends.
int delete_attribute(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<SharedLock> lock(static_cast<SharedLock*>(value));
  (*lock)->finalize();
  return MPI_SUCCESS;
}

// Attaches a new lock to MPI_COMM_SELF and returns the key under which it is found.
int attach_new_lock() LAPSE_REQUIRES(mpi_role) {
  int keyval = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, nullptr),
            "MPI_Comm_create_keyval");
  int rank = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  auto lock = std::make_unique<SharedLock>(std::make_shared<MpiLock>(Rank(rank)));
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, lock.get()), "MPI_Comm_set_attr");
  static_cast<void>(lock.release());  // From here on it belongs to the attribute.
  return keyval;
}

void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

std::shared_ptr<MpiLock> MpiLock::of_process() {
  mpi_role.assert_held();  // No other thread is inside MPI: the caller vouches for it.
  static const int keyval = attach_new_lock();
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_SELF, keyval, &value, &found), "MPI_Comm_get_attr");
  if (!found) throw MpiStateError("MPI is being finalized: no new instance can be made");
  return *static_cast<SharedLock*>(value);
}

void MpiLock::lock_contended() {
  constexpr int kSpins = 100;
  constexpr int kYields = 10;
  for (int attempt = 0; attempt < kSpins + kYields; ++attempt) {
    if (attempt < kSpins) {
      pause_processor();
    } else {
      std::this_thread::yield();
    }
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
  }
  while (state_.exchange(kHeldWithSleepers, std::memory_order_acquire) != kFree) {
    state_.wait(kHeldWithSleepers, std::memory_order_relaxed);
  }
}

void MpiLock::finalize() {
  const int open = open_instances_.load(std::memory_order_relaxed);
  if (open > 0) {
    log_error(process_,
              fmt::format("MPI_Finalize was called on rank {} of MPI_COMM_WORLD while {} instance(s) of "
                          "this process were still open: call close() on every instance first; messages "
                          "that are in flight are lost",
                          process_.value(), open));
  }
  finalized_.store(true, std::memory_order_release);
}

}  // namespace lapse
