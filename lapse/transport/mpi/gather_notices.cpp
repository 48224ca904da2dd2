#include "lapse/transport/mpi/gather_notices.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lapse/core/process/sleep_between_polls.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/wire.hpp"

namespace lapse {

MpiGatherNotices::MpiGatherNotices(MPI_Comm communicator, Rank self, std::int32_t ranks)
    : communicator_(communicator),
      self_(self),
      peers_(static_cast<std::size_t>(ranks)),
      sent_(peers_.size()),
      received_(peers_.size()) {}

void MpiGatherNotices::send(std::size_t rank) {
  if (rank == self_.index() || peers_[rank].noticed == gathering_) return;
  auto number = std::make_unique<std::uint64_t>(gathering_);
  const std::uint64_t* const from = number.get();
  requests_.start(std::move(number), [&]() LAPSE_REQUIRES(mpi_role) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(from, 1, MPI_UINT64_T, static_cast<int>(rank), mpi_wire::kGatherTag, communicator_,
                        &request),
              "MPI_Isend");
    return request;
  });
  peers_[rank].noticed = gathering_;
  ++sent_[rank];
}

bool MpiGatherNotices::receive() {
  int arrived = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, mpi_wire::kGatherTag, communicator_, &arrived, &status), "MPI_Iprobe");
  if (!arrived) return false;
  std::uint64_t number = 0;
  check_mpi(MPI_Recv(&number, 1, MPI_UINT64_T, status.MPI_SOURCE, mpi_wire::kGatherTag, communicator_,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
  const auto from = static_cast<std::size_t>(status.MPI_SOURCE);
  peers_[from].come = std::max(peers_[from].come, number);
  ++received_[from];
  return true;
}

void MpiGatherNotices::announce() {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) send(rank);
}

void MpiGatherNotices::advance() {
  while (receive()) {
  }
  for (std::size_t rank = 0; rank < peers_.size(); ++rank)
    if (peers_[rank].come >= gathering_) send(rank);
  requests_.test([](std::unique_ptr<std::uint64_t>, const MPI_Status&) {});
}

std::vector<Rank> MpiGatherNotices::missing() const {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank != self_.index() && peers_[rank].come < gathering_)
      ranks.emplace_back(static_cast<std::int32_t>(rank));
  }
  return ranks;
}

void MpiGatherNotices::drain(MpiLock& lock, GatherWatch* watch) {
  using Duration = GatherWatch::Duration;
  const auto start = std::chrono::steady_clock::now();
  const Duration patience = watch == nullptr ? Duration::zero() : watch->patience();
  Duration due = patience;
  const auto look = [&](Duration) {
    const Duration waited = std::chrono::steady_clock::now() - start;
    if (patience == Duration::zero() || waited < due) return;
    watch->report(waited, {});
    due += patience;
  };
  std::vector<std::uint64_t> expected(peers_.size());
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiGuard guard(lock);
    check_mpi(MPI_Ialltoall(sent_.data(), 1, MPI_UINT64_T, expected.data(), 1, MPI_UINT64_T, communicator_,
                            &request),
              "MPI_Ialltoall");
  }
  wait_polled(lock, request, "MPI_Ialltoall", look);
  for (;;) {
    {
      const MpiGuard guard(lock);
      while (receive()) {
      }
      requests_.test([](std::unique_ptr<std::uint64_t>, const MPI_Status&) {});
      if (received_ == expected && requests_.empty()) return;
    }
    const auto waited = std::chrono::steady_clock::now() - start;
    look(waited);
    sleep_between_polls(waited);
  }
}

void MpiGatherNotices::abandon() {
  requests_.abandon(false,
                    [](std::unique_ptr<std::uint64_t> number) { static_cast<void>(number.release()); });
}

}  // namespace lapse
