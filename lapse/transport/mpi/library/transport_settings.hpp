// The sizes that MpiTransport uses.
#pragma once

#include <chrono>
#include <cstddef>

#include "lapse/core/options.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"

namespace lapse {

struct MpiTransportSettings {
  // Size of an eager message. 0: 16 KiB if messages of that size reach their receiver without further help of
  // the sender (see prepare_mpi_environment), else slightly below 4 KiB. All ranks use the smallest value of
  // any rank.
  std::size_t eager_bytes = 0;
  // Like eager_bytes, between hosts; at least eager_bytes. 0: eager_bytes if that is set, else the size of a
  // full packet (Transport::kPacketBytes) if TCP sends it eagerly. A receive ring buffer has the larger of
  // the two sizes that can occur.
  std::size_t network_eager_bytes = 0;
  std::size_t eager_bytes_to(bool same_host) const { return same_host ? eager_bytes : network_eager_bytes; }
  // Receives posted ahead.
  std::size_t ring_buffers = 64;
  // Packets that do not fit an eager message travel in fragments of this size; the same on every rank.
  std::size_t fragment_bytes = std::size_t{1} << 20;
  // Fragments in flight per pair of ranks.
  std::size_t fragments_in_flight = 8;

  // Packets between ranks of a host go through rings in shared memory if all ranks want it.
  bool host_rings = true;
  // Bytes of such a ring, the same on every rank; 0: HostRingsLayout chooses.
  std::size_t host_ring_bytes = 0;

  // Remote memory access for bulk packets. All settings below are the same on every rank.
  RmaChoice rma = RmaChoice::automatic;
  // A rank's part of the window's self-test fails after this time.
  std::chrono::milliseconds rma_test_limit{10'000};
  // Bytes of an RMA receive ring; 0: RmaReceiveRingLayout chooses.
  std::size_t rma_ring_bytes = 0;
  // Smaller packets go by message; 0: those that fit an eager message between ranks of a host.
  std::size_t rma_smallest_bytes = 0;
  // Reports ranks that do not create their transport.
  MakingReport making_report = {};
  // The folder in which the kernel lists network adapters with remote memory access.
  const char* rdma_devices = "/sys/class/infiniband";
};

// Collective. Returns the settings with the eager sizes that all ranks use, and host_rings set if all ranks
// want them. Throws ConfigurationError on every rank if some rank's settings are impossible or fragment_bytes
// differs.
MpiTransportSettings agree_on_settings(const MpiCommunicator& communicator, MpiTransportSettings settings)
    LAPSE_EXCLUDES(mpi_role);

}  // namespace lapse
