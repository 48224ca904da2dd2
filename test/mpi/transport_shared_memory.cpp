// Shared memory of a host by MPI windows, and doorbells in it.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/host/host_doorbells.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/windows/shared_windows.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

struct Host {
  Host() {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &group);
    MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &ranks);
  }
  ~Host() { MPI_Comm_free(&group); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  MPI_Comm group = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
};

}  // namespace

TEST_CASE("Windows are zeroed, begin at a page and are the same memory on all ranks of the host") {
  const Host host;
  if (host.ranks == 1) return;  // There is no other rank to share with.
  MpiLock lock;
  MpiSharedWindows memory(host.group, lock);
  std::vector<std::byte*> all;
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{3'000'000}}) {
    std::byte* const base = memory.allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(base) % 4096 == 0);
    CHECK(std::all_of(base, base + bytes, [](std::byte byte) { return byte == std::byte{0}; }));
    MPI_Barrier(host.group);
    auto* const counter = reinterpret_cast<std::atomic<std::uint64_t>*>(base);
    for (int i = 0; i < 1000; ++i) counter->fetch_add(1);
    auto* const last = reinterpret_cast<std::atomic<std::uint64_t>*>(base + bytes - 8);
    if (host.rank == 0 && bytes > 64) last->store(bytes);
    MPI_Barrier(host.group);
    CHECK(counter->load() == 1000U * static_cast<unsigned>(host.ranks));
    if (bytes > 64) CHECK(last->load() == bytes);
    all.push_back(base);
  }
  CHECK((all[0] != all[1] && all[1] != all[2] && all[0] != all[2]));
  memory.free();
  memory.free();
}

TEST_CASE("More than the file system or the addresses of a rank have room for is OutOfMemory on every rank") {
  const Host host;
  if (host.ranks == 1) return;  // There is no other rank to share with.
  MpiLock lock;
  MpiSharedWindows memory(host.group, lock);
  const std::size_t free = MpiSharedWindows::free_bytes();
  CHECK(free > 0);
  CHECK_THROWS_AS(memory.allocate(2 * free), OutOfMemory);
  // The group continues.
  std::byte* const base = memory.allocate(1000);
  CHECK(base[999] == std::byte{0});
  memory.free();
}

TEST_CASE("Ranks of a host wake each other by doorbells in memory that they share") {
  const Host host;
  if (host.ranks == 1) return;  // There is no other rank to share with.
  MpiLock lock;
  MpiSharedWindows memory(host.group, lock);
  const auto count = static_cast<std::size_t>(host.ranks);
  std::byte* const lines = memory.allocate((count + 1) * HostDoorbells::kLineBytes);
  auto* const turn = reinterpret_cast<std::atomic<std::int32_t>*>(lines + count * HostDoorbells::kLineBytes);
  HostDoorbells bells(lines, std::vector<std::int32_t>(count, 0), Rank(host.rank));
  constexpr int kTurns = 2000;
  constexpr std::chrono::seconds kSleep{10};
  const auto start = std::chrono::steady_clock::now();
  MPI_Barrier(host.group);
  for (int i = host.rank; i < kTurns; i += host.ranks) {
    while (turn->load() != i) bells.own().sleep(kSleep, [&] { return turn->load() == i; });
    turn->store(i + 1);
    bells.ring(Rank((host.rank + 1) % host.ranks));
  }
  // A lost ring would cost a whole sleep.
  CHECK(std::chrono::steady_clock::now() - start < kSleep);
  MPI_Barrier(host.group);
  memory.free();
}
