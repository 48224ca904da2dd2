#include "lapse/transport/mpi/windows/shared_windows.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/process/pages.hpp"
#include "lapse/transport/host/shared_memory_remedies.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/mpi_library.hpp"
#include "lapse/transport/mpi/windows/window_access.hpp"

namespace lapse {

namespace {

// Generous bound of what the MPI library adds to a window's file beside the memory asked for.
constexpr std::size_t kFileOverhead = std::size_t{1} << 20;

// Whether this process has this many addresses left (ulimit -v may limit it). A large window leaves some to
// the program, whose threads and allocations would fail otherwise.
bool has_addresses(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{8} << 20;
  constexpr std::size_t kLeft = std::size_t{128} << 20;
  const std::size_t wanted = bytes > kLarge ? bytes + kLeft : bytes;
  void* const probe = mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) return false;
  munmap(probe, wanted);
  return true;
}

}  // namespace

std::string MpiSharedWindows::directory() {
  const char* const variable = mpi_library().shared_folder_variable;
  const char* const chosen = variable == nullptr ? nullptr : std::getenv(variable);
  return chosen != nullptr && *chosen != '\0' ? chosen : "/dev/shm";
}

std::size_t MpiSharedWindows::free_bytes() {
  struct statvfs system {};
  if (statvfs(directory().c_str(), &system) != 0) return 0;
  return static_cast<std::size_t>(system.f_bavail) * static_cast<std::size_t>(system.f_frsize);
}

std::uint64_t MpiSharedWindows::least_of(std::uint64_t mine) const {
  std::uint64_t least = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiGuard guard(*lock_);
    check_mpi(MPI_Iallreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, group_, &request), "MPI_Iallreduce");
  }
  wait_polled(*lock_, request, "MPI_Iallreduce");
  return least;
}

std::byte* MpiSharedWindows::allocate(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t whole = bytes + page;  // A window begins anywhere in a page.
  const std::size_t wanted = whole + kFileOverhead;
  if (const std::uint64_t least = least_of(free_bytes()); wanted > least) {
    throw OutOfMemory(fmt::format("{} bytes of shared memory are wanted and {} has {}; {}", wanted,
                                  directory(), least, kMoreSharedMemory));
  }
  if (!all_have(has_addresses(wanted))) {
    throw OutOfMemory(
        fmt::format("{} bytes of shared memory are wanted, for which a rank has no addresses; {}", wanted,
                    kMoreAddresses));
  }
  if (whole > static_cast<std::size_t>(std::numeric_limits<MPI_Aint>::max()))
    throw OutOfMemory(fmt::format("{} bytes of shared memory exceed the address space", whole));
  const MpiGuard guard(*lock_);
  int rank = 0;
  check_mpi(MPI_Comm_rank(group_, &rank), "MPI_Comm_rank");
  void* own = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  try {
    check_mpi(MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(whole) : 0, 1, MPI_INFO_NULL, group_,
                                      &own, &window),
              "MPI_Win_allocate_shared");
  } catch (const MpiError& error) {
    const std::string_view remedy = mpi_library().shared_windows_remedy;
    throw MpiError(fmt::format("{}{}{}", error.what(), remedy.empty() ? "" : "; ", remedy));
  }
  windows_.push_back(window);
  check_mpi(MPI_Win_set_name(window, "lapse shared tables"), "MPI_Win_set_name");
  begin_passive_access(window);
  MPI_Aint size = 0;
  int unit = 0;
  void* base = nullptr;
  check_mpi(MPI_Win_shared_query(window, 0, &size, &unit, &base), "MPI_Win_shared_query");
  // The window has different addresses on different ranks, but the same page offset.
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  return static_cast<std::byte*>(base) + (page - address % page) % page;
}

void MpiSharedWindows::free() {
  if (windows_.empty()) return;
  barrier_polled(*lock_, group_);
  const MpiGuard guard(*lock_);
  for (MPI_Win& window : windows_) {
    check_mpi(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
    check_mpi(MPI_Win_free(&window), "MPI_Win_free");
  }
  windows_.clear();
}

}  // namespace lapse
