// Memory that the ranks of a host share besides tables: doorbells and packet rings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lapse/transport/host/host_doorbells.hpp"
#include "lapse/transport/host/host_rings.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/library/transport_settings.hpp"
#include "lapse/transport/mpi/windows/shared_windows.hpp"
#include "lapse/transport/packets/buffer_pool.hpp"

namespace lapse {

// One window for both. If it cannot be made, there are neither doorbells nor rings; if there is no space for
// rings, doorbells only. All ranks of a host have the same. A ring is not used if its pages would take the
// last of the shared memory.
//
// Thread safety: see HostDoorbells and HostRings. Takes the MPI lock to call MPI.
class MpiHostMemory {
 public:
  // Collective over the ranks of a host.
  MpiHostMemory(const MpiCommunicator& communicator, const MpiTransportSettings& settings, BufferPool& pool)
      LAPSE_EXCLUDES(mpi_role);

  // Null if there is none.
  HostDoorbells* bells() { return bells_ ? &*bells_ : nullptr; }
  HostRings* rings() { return rings_ ? &*rings_ : nullptr; }
  // Why these ranks cannot share memory; empty if they can.
  const std::string& problem() const { return problem_; }

  // Bytes of each rank when all rings are used.
  std::size_t bytes() const { return bytes_; }

  // Collective over the ranks of a host.
  void free() LAPSE_EXCLUDES(mpi_role);

 private:
  MpiSharedWindows windows_;
  std::optional<HostDoorbells> bells_;
  std::optional<HostRings> rings_;
  std::string problem_;
  std::size_t bytes_ = 0;
};

}  // namespace lapse
