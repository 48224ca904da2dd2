#include "lapse/transport/mpi/library/collectives.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/process/sleep_between_polls.hpp"
#include "lapse/transport/mpi/library/error.hpp"

namespace lapse {

void wait_polled(MpiLock& lock, MPI_Request& request, const char* call, const WhileWaiting& while_waiting) {
  using SteadyClock = std::chrono::steady_clock;
  constexpr int kTestsBeforeYielding = 32;
  // The thread yields until then, and sleeps afterwards.
  constexpr std::chrono::milliseconds kSleepsAfter{2};
  SteadyClock::time_point start{};
  for (int tests = 1;; ++tests) {
    int done = 0;
    {
      const MpiGuard guard(lock);
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    }
    if (done) return;
    if (tests <= kTestsBeforeYielding) continue;
    const SteadyClock::time_point now = SteadyClock::now();
    if (start == SteadyClock::time_point{}) start = now;
    const SteadyClock::duration waited = now - start;
    if (waited < kSleepsAfter) {
      std::this_thread::yield();
      continue;
    }
    if (while_waiting) while_waiting(waited);
    sleep_between_polls(waited);
  }
}

void barrier_polled(MpiLock& lock, MPI_Comm communicator, const WhileWaiting& while_waiting) {
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiGuard guard(lock);
    check_mpi(MPI_Ibarrier(communicator, &request), "MPI_Ibarrier");
  }
  wait_polled(lock, request, "MPI_Ibarrier", while_waiting);
}

std::vector<std::vector<std::byte>> all_gather_polled(MpiLock& lock, MPI_Comm communicator,
                                                      std::span<const std::byte> mine,
                                                      const WhileWaiting& while_waiting) {
  int ranks = 0;
  const std::uint64_t my_size = mine.size();
  std::vector<std::uint64_t> sizes;
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiGuard guard(lock);
    check_mpi(MPI_Comm_size(communicator, &ranks), "MPI_Comm_size");
    sizes.resize(static_cast<std::size_t>(ranks));
    check_mpi(
        MPI_Iallgather(&my_size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, communicator, &request),
        "MPI_Iallgather");
  }
  wait_polled(lock, request, "MPI_Iallgather", while_waiting);

  constexpr std::uint64_t kLimit = std::numeric_limits<int>::max();
  std::uint64_t total = 0;
  std::vector<int> counts(sizes.size());
  std::vector<int> offsets(sizes.size());
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    if (sizes[rank] > kLimit - total) {
      throw UsageError(
          fmt::format("all_gather of more than {} bytes in all: the first {} of {} ranks bring {} bytes "
                      "and rank {} another {}",
                      kLimit, rank, sizes.size(), total, rank, sizes[rank]));
    }
    counts[rank] = static_cast<int>(sizes[rank]);
    offsets[rank] = static_cast<int>(total);
    total += sizes[rank];
  }
  std::vector<std::byte> gathered(total);
  {
    const MpiGuard guard(lock);
    check_mpi(MPI_Iallgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, gathered.data(),
                              counts.data(), offsets.data(), MPI_BYTE, communicator, &request),
              "MPI_Iallgatherv");
  }
  wait_polled(lock, request, "MPI_Iallgatherv", while_waiting);

  std::vector<std::vector<std::byte>> result(sizes.size());
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    const std::byte* begin = gathered.data() + offsets[rank];
    result[rank].assign(begin, begin + sizes[rank]);
  }
  return result;
}

std::string first_message_polled(MpiLock& lock, MPI_Comm communicator, std::string_view mine) {
  const auto all = all_gather_polled(lock, communicator, std::as_bytes(std::span(mine)));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const auto* const text = reinterpret_cast<const char*>(all[rank].data());
    return fmt::format("rank {}: {}", rank, std::string_view(text, all[rank].size()));
  }
  return {};
}

}  // namespace lapse
