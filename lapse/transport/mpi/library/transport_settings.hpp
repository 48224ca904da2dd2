// The sizes that MpiTransport works with.
#pragma once

#include <chrono>
#include <cstddef>

#include "lapse/core/options.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"

namespace lapse {

struct MpiTransportSettings {
  // Size of an eager message. 0: 16 KiB where messages of that size reach their receiver without further
  // help of the sender (see prepare_mpi_environment), else a little below 4 KiB. The smallest value of all
  // ranks is used by all.
  std::size_t eager_bytes = 0;
  // The same between hosts; at least eager_bytes. 0: eager_bytes where that is set; else that of a full
  // packet (Transport::kPacketBytes) where TCP sends it so. A buffer of the receive ring has the size of the
  // larger that can come.
  std::size_t network_eager_bytes = 0;
  std::size_t eager_bytes_to(bool same_host) const { return same_host ? eager_bytes : network_eager_bytes; }
  // Receives posted ahead.
  std::size_t ring_buffers = 64;
  // Packets that do not fit an eager message travel in fragments of this size, the same on every rank.
  std::size_t fragment_bytes = std::size_t{1} << 20;
  // Fragments in flight at once for each pair of ranks.
  std::size_t fragments_in_flight = 8;

  // Packets between ranks of a host go through rings in memory that they share, where all ranks want it.
  bool host_rings = true;
  // Bytes of such a ring, the same on every rank; 0: as HostRingsLayout chooses.
  std::size_t host_ring_bytes = 0;

  // Remote memory access for packets of the bulk lane; all that follows is the same on every rank.
  RmaChoice rma = RmaChoice::automatic;
  // After so long a rank's part of the window's self-test has failed.
  std::chrono::milliseconds rma_test_limit{10'000};
  // Bytes of an RMA receive ring; 0: as RmaReceiveRingLayout chooses.
  std::size_t rma_ring_bytes = 0;
  // Smaller packets go by message; 0: those that fit an eager message between ranks of a host.
  std::size_t rma_smallest_bytes = 0;
  // Of ranks that do not make their transport.
  MakingReport making_report = {};
  // Where the kernel lists network adapters with remote memory access.
  const char* rdma_devices = "/sys/class/infiniband";
};

// Collective. The settings with the eager sizes that all ranks use, and host_rings where all ranks want them.
// Throws ConfigurationError, on every rank, when the settings of some rank are impossible or fragment_bytes
// differs.
MpiTransportSettings agree_on_settings(const MpiCommunicator& communicator, MpiTransportSettings settings)
    LAPSE_EXCLUDES(mpi_role);

}  // namespace lapse
