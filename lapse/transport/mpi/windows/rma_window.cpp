#include "lapse/transport/mpi/windows/rma_window.hpp"

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/windows/window_access.hpp"

namespace lapse {

MpiRmaWindow::MpiRmaWindow(const MpiCommunicator& communicator, std::size_t bytes) {
  barrier_polled(communicator.lock(), communicator.get());
  const MpiGuard guard(communicator.lock());
  void* base = nullptr;
  check_mpi(MPI_Win_allocate(static_cast<MPI_Aint>(bytes + kAlignment), 1, MPI_INFO_NULL, communicator.get(),
                             &base, &window_),
            "MPI_Win_allocate");
  check_mpi(MPI_Win_set_name(window_, "lapse payloads"), "MPI_Win_set_name");
  begin_passive_access(window_);
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  padding_ = static_cast<std::uint8_t>((kAlignment - address % kAlignment) % kAlignment);
  memory_ = static_cast<std::byte*>(base) + padding_;
}

void MpiRmaWindow::put(std::span<const std::byte> bytes, Rank to, std::size_t offset) {
  const int count = static_cast<int>(bytes.size());
  check_mpi(
      MPI_Put(bytes.data(), count, MPI_BYTE, to.value(), displacement(to, offset), count, MPI_BYTE, window_),
      "MPI_Put");
}

void MpiRmaWindow::flush(Rank to) {
  check_mpi(MPI_Win_flush(to.value(), window_), "MPI_Win_flush");
}

void MpiRmaWindow::sync() {
  check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
}

MPI_Request MpiRmaWindow::begin_put(std::span<const std::byte> bytes, Rank to, std::size_t offset) {
  const int count = static_cast<int>(bytes.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Rput(bytes.data(), count, MPI_BYTE, to.value(), displacement(to, offset), count, MPI_BYTE,
                     window_, &request),
            "MPI_Rput");
  return request;
}

MPI_Request MpiRmaWindow::begin_get(std::span<std::byte> bytes, Rank from, std::size_t offset) {
  const int count = static_cast<int>(bytes.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Rget(bytes.data(), count, MPI_BYTE, from.value(), displacement(from, offset), count, MPI_BYTE,
                     window_, &request),
            "MPI_Rget");
  return request;
}

void MpiRmaWindow::free(const MpiCommunicator& communicator) {
  barrier_polled(communicator.lock(), communicator.get());
  const MpiGuard guard(communicator.lock());
  check_mpi(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
  check_mpi(MPI_Win_free(&window_), "MPI_Win_free");
}

}  // namespace lapse
