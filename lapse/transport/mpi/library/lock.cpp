#include "lapse/transport/mpi/library/lock.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/mpi_library.hpp"

namespace lapse {

// Layout 1.
static_assert(sizeof(MpiLock) == 192 && alignof(MpiLock) == 64);

namespace {

// The lock's address is stored in the text of an MPI error class. Error classes belong to one process, and
// every copy of the library can list them; attribute keys cannot be listed, and symbols of one library may be
// hidden from another.
constexpr char kNotice[] = "lapse: lock of MPI calls, layout %d, at %zx";
constexpr int kMaxListedCodes = 1000;

// Called when MPI_Finalize frees MPI_COMM_SELF, before anything else of MPI ends.
int delete_attribute(MPI_Comm, int, void* value, void*) {
  static_cast<MpiLock*>(value)->finalize();
  return MPI_SUCCESS;
}

// MPI_Finalize calls this copy of the library, so it must not be unloaded before.
void stay_loaded() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&delete_attribute), &info) != 0 && info.dli_fname != nullptr)
    static_cast<void>(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

// The lock that a notice announces; null for another text.
MpiLock* announced_lock(const char* text) {
  int layout = 0;
  std::size_t address = 0;
  if (std::sscanf(text, kNotice, &layout, &address) < 1) return nullptr;
  if (layout != MpiLock::kLayout) {
    throw MpiStateError(
        fmt::format("this process contains two copies of the library of which the locks of MPI calls differ "
                    "(layouts {} and {}): expected copies of one version",
                    layout, MpiLock::kLayout));
  }
  return reinterpret_cast<MpiLock*>(address);
}

MpiLock* find_lock() LAPSE_REQUIRES(mpi_role) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found), "MPI_Comm_get_attr");
  if (!found) return nullptr;
  const int last = std::min(*static_cast<int*>(value), MPI_ERR_LASTCODE + kMaxListedCodes);
  for (int code = MPI_ERR_LASTCODE + 1 + mpi_library().reserved_error_codes; code <= last; ++code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) continue;
    if (MpiLock* const lock = announced_lock(text.data())) return lock;
  }
  return nullptr;
}

MpiLock* make_lock() LAPSE_REQUIRES(mpi_role) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  auto* const lock = new MpiLock(Rank(rank));  // Copies of the library may use it until the process ends.
  int keyval = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, nullptr),
            "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, lock), "MPI_Comm_set_attr");
  stay_loaded();
  int code = 0;
  check_mpi(MPI_Add_error_class(&code), "MPI_Add_error_class");
  std::array<char, MPI_MAX_ERROR_STRING> notice{};
  std::snprintf(notice.data(), notice.size(), kNotice, MpiLock::kLayout, reinterpret_cast<std::size_t>(lock));
  check_mpi(MPI_Add_error_string(code, notice.data()), "MPI_Add_error_string");
  return lock;
}

MpiLock* find_or_make_lock() LAPSE_REQUIRES(mpi_role) {
  MpiLock* const lock = find_lock();
  return lock != nullptr ? lock : make_lock();
}

// Direct system calls: a copy of the standard library notices only sleepers of that copy.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

MpiLock& MpiLock::of_process() {
  mpi_role.assert_held();  // No other thread is inside MPI: the caller guarantees it.
  static MpiLock* const lock = find_or_make_lock();
  if (lock->finalized()) throw MpiStateError("MPI is being finalized: no parameter server can be made");
  return *lock;
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
    futex(state_, FUTEX_WAIT_PRIVATE, kHeldWithSleepers);
  }
}

namespace {

std::atomic<std::thread::id>& application_thread() {
  static std::atomic<std::thread::id> thread;
  return thread;
}

}  // namespace

void MpiLock::set_application_thread(std::thread::id thread) {
  application_thread().store(thread, std::memory_order_relaxed);
}

bool MpiLock::is_application_thread() {
  return application_thread().load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void MpiLock::refuse_application_thread(const char* call) {
  if (is_application_thread())
    throw UsageError(fmt::format("{} by a thread that has mpi_calls(): it would wait for itself", call));
}

void MpiLock::wake_sleeper() {
  futex(state_, FUTEX_WAKE_PRIVATE, 1);
}

void MpiLock::finalize() {
  const int open = open_instances_.load(std::memory_order_relaxed);
  if (open > 0) {
    log_error(
        process_,
        fmt::format("MPI_Finalize was called on rank {} of MPI_COMM_WORLD while this process had {} still "
                    "open: call close() (in C and Fortran lapse_server_close) on each first; messages "
                    "that are in flight are lost",
                    process_.value(),
                    open == 1 ? std::string("1 parameter server or manager")
                              : fmt::format("{} parameter servers or managers", open)));
  }
  finalized_.store(true, std::memory_order_release);
}

}  // namespace lapse
