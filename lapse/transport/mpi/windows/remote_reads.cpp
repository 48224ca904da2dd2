#include "lapse/transport/mpi/windows/remote_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/windows/window_access.hpp"

namespace lapse {

namespace {

constexpr std::size_t kBytes = sizeof(std::uint64_t);

MPI_Request begin_get(std::uint64_t& value, Rank from, std::size_t offset, MPI_Win window)
    LAPSE_REQUIRES(mpi_role) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Rget(&value, kBytes, MPI_BYTE, from.value(), static_cast<MPI_Aint>(offset), kBytes, MPI_BYTE,
                     window, &request),
            "MPI_Rget");
  return request;
}

void make(MPI_Comm communicator, std::span<const std::byte> memory, MPI_Win& window)
    LAPSE_REQUIRES(mpi_role) {
  // MPI declares memory that it only reads as writable.
  check_mpi(MPI_Win_create(const_cast<std::byte*>(memory.data()), static_cast<MPI_Aint>(memory.size()), 1,
                           MPI_INFO_NULL, communicator, &window),
            "MPI_Win_create");
  check_mpi(MPI_Win_set_name(window, "lapse owners"), "MPI_Win_set_name");
  begin_passive_access(window);
}

// Collective. Throws MpiError on every rank if one has a problem.
void agree(const MpiCommunicator& communicator, const std::string& problem) {
  const std::string first = first_message_polled(communicator.lock(), communicator.get(), problem);
  if (!first.empty()) throw MpiError("on " + first);
}

// Reads the first eight bytes of `from`; returns what went wrong, empty if nothing.
std::string test(const MpiCommunicator& communicator, MPI_Win window, Rank from, std::uint64_t expected,
                 std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  // On the heap: MPI may still write to it after the time limit.
  auto* const value = new std::uint64_t(~expected);
  MPI_Request request = MPI_REQUEST_NULL;
  for (int done = 0; !done; std::this_thread::yield()) {
    const MpiGuard guard(communicator.lock());
    if (request == MPI_REQUEST_NULL) request = begin_get(*value, from, 0, window);
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Rget");
    if (!done && std::chrono::steady_clock::now() > deadline)
      return fmt::format("MPI_Rget from rank {} took longer than {} ms", from.value(), limit.count());
  }
  const std::uint64_t seen = *value;
  delete value;
  return seen == expected ? std::string()
                          : fmt::format("MPI_Rget from rank {} gave wrong bytes", from.value());
}

}  // namespace

std::uint32_t MpiRemoteReads::expose(std::span<const std::byte> memory) {
  barrier_polled(communicator_.lock(), communicator_.get());
  MPI_Win window = MPI_WIN_NULL;
  std::string problem;
  try {
    const MpiGuard guard(communicator_.lock());
    make(communicator_.get(), memory, window);
  } catch (const Error& error) {
    problem = error.what();
  }
  agree(communicator_, problem);
  const auto firsts = all_gather_polled(communicator_.lock(), communicator_.get(),
                                        memory.first(std::min(memory.size(), kBytes)));
  // The next rank that exposes something, possibly this one.
  const auto ranks = static_cast<std::size_t>(communicator_.ranks());
  for (std::size_t step = 1; step <= ranks; ++step) {
    const std::size_t other = (communicator_.rank().index() + step) % ranks;
    if (firsts[other].size() < kBytes) continue;
    std::uint64_t expected = 0;
    std::memcpy(&expected, firsts[other].data(), kBytes);
    try {
      problem = test(communicator_, window, Rank(static_cast<std::int32_t>(other)), expected, test_limit_);
    } catch (const Error& error) {
      problem = error.what();
    }
    break;
  }
  agree(communicator_, problem);
  windows_.push_back(window);
  return static_cast<std::uint32_t>(windows_.size() - 1);
}

void MpiRemoteReads::begin(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) {
  if (closed_) throw ClosedError("a remote read: the transport is closed");
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(values_.size()));
    values_.push_back(0);
  }
  const Reading reading{free_.back(), tag};
  free_.pop_back();
  {
    const MpiGuard guard(communicator_.lock());
    requests_.start(reading, [&]() LAPSE_REQUIRES(mpi_role) {
      return begin_get(values_[reading.slot], from, offset, windows_.at(number));
    });
  }
  // That rank's MPI library may have to answer.
  if (bells_ != nullptr) bells_->ring(from);
}

void MpiRemoteReads::advance() {
  while (requests_.test([this](Reading reading, const MPI_Status&) {
    finished_.push_back({reading.tag, values_[reading.slot]});
    free_.push_back(reading.slot);
  })) {
  }
}

bool MpiRemoteReads::deliver() {
  if (finished_.empty()) return false;
  // The handler may begin further reads.
  delivered_.clear();
  delivered_.swap(finished_);
  handler_(delivered_);
  return true;
}

std::size_t MpiRemoteReads::abandon() {
  const std::size_t unfinished = requests_.size() + finished_.size();
  bool lost = false;
  requests_.abandon(false, [&](Reading) { lost = true; });
  // MPI may still write to the values, so leak them.
  if (lost) static_cast<void>(new std::deque<std::uint64_t>(std::move(values_)));
  values_.clear();
  free_.clear();
  return unfinished;
}

void MpiRemoteReads::free() {
  closed_ = true;
  if (windows_.empty()) return;
  barrier_polled(communicator_.lock(), communicator_.get());
  const MpiGuard guard(communicator_.lock());
  for (MPI_Win& window : windows_) {
    check_mpi(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
    check_mpi(MPI_Win_free(&window), "MPI_Win_free");
  }
  windows_.clear();
}

}  // namespace lapse
