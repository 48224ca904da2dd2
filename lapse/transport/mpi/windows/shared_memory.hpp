// MpiTransport's memory that ranks of one host share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lapse/transport/host/shared_memory.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/windows/shared_windows.hpp"

namespace lapse {

// The windows of the group that this rank has joined. Thread safety: see SharedMemory. Takes the MPI lock to
// call MPI.
class MpiSharedMemory final : public SharedMemory {
 public:
  explicit MpiSharedMemory(const MpiCommunicator& communicator) : communicator_(communicator) {}

  // Sets, before the first use, why the ranks of this host cannot share memory.
  void set_problem(std::string problem) { problem_ = std::move(problem); }
  std::string problem() const override { return problem_; }
  void join_group(std::int32_t group) override LAPSE_EXCLUDES(mpi_role);
  std::byte* allocate(std::size_t bytes) override { return windows_.value().allocate(bytes); }
  std::size_t free_bytes() const override { return MpiSharedWindows::free_bytes(); }
  std::string place() const override { return MpiSharedWindows::directory(); }

  // Collective over the group.
  void free() LAPSE_EXCLUDES(mpi_role);

 private:
  const MpiCommunicator& communicator_;
  std::string problem_;
  MPI_Comm group_ = MPI_COMM_NULL;
  std::optional<MpiSharedWindows> windows_;
};

}  // namespace lapse
