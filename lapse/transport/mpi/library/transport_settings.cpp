#include "lapse/transport/mpi/library/transport_settings.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/eager_limits.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/wire.hpp"
#include "lapse/transport/rma/rma_receive_ring.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

namespace {

constexpr std::size_t kLargeEagerBytes = 16384;
constexpr std::size_t kSmallEagerBytes = 4096 - 64;  // Leaves space for the header of the MPI library.
constexpr std::size_t kNetworkEagerBytes = Transport::kPacketBytes + mpi_wire::kKindBytes;
constexpr std::size_t kSmallestEagerBytes = 64;
constexpr std::size_t kShortestRing = 4096;  // The self-test's bytes.
constexpr std::size_t kShortestHostRing = 4096;

std::size_t automatic_eager_bytes() {
  const std::optional<std::size_t> limit = eager_message_bytes();
  return limit && *limit >= kLargeEagerBytes ? kLargeEagerBytes : kSmallEagerBytes;
}

std::size_t automatic_network_eager_bytes(std::size_t eager_bytes) {
  const std::optional<std::size_t> limit = eager_network_bytes();
  return limit && *limit >= kNetworkEagerBytes ? std::max(eager_bytes, kNetworkEagerBytes) : eager_bytes;
}

// Describes what is wrong with the settings; empty if nothing.
std::string problem_of(const MpiTransportSettings& settings) {
  constexpr std::size_t kMax = std::numeric_limits<int>::max();
  if (settings.eager_bytes != 0 &&
      (settings.eager_bytes < kSmallestEagerBytes || settings.eager_bytes > kMax)) {
    return fmt::format("eager_bytes is {}: expected 0 or {} to {}", settings.eager_bytes, kSmallestEagerBytes,
                       kMax);
  }
  if (settings.network_eager_bytes > kMax ||
      (settings.network_eager_bytes != 0 && settings.network_eager_bytes < settings.eager_bytes)) {
    return fmt::format("network_eager_bytes is {}: expected 0 or {} to {}", settings.network_eager_bytes,
                       settings.eager_bytes, kMax);
  }
  if (settings.fragment_bytes < 1 || settings.fragment_bytes > kMax) {
    return fmt::format("fragment_bytes is {}: expected 1 to {}", settings.fragment_bytes, kMax);
  }
  if (settings.ring_buffers < 2) {
    return fmt::format("ring_buffers is {}: expected at least 2", settings.ring_buffers);
  }
  if (settings.fragments_in_flight < 1) return "fragments_in_flight is 0: expected at least 1";
  if ((settings.host_ring_bytes != 0 && settings.host_ring_bytes < kShortestHostRing) ||
      settings.host_ring_bytes > kMax) {
    return fmt::format("host_ring_bytes is {}: expected 0 or {} to {}", settings.host_ring_bytes,
                       kShortestHostRing, kMax);
  }
  if (settings.rma_ring_bytes % rma_receive_ring::kAlignment != 0 ||
      (settings.rma_ring_bytes != 0 && settings.rma_ring_bytes < kShortestRing) ||
      settings.rma_ring_bytes > kMax) {
    return fmt::format("rma_ring_bytes is {}: expected 0 or {} to {}, a multiple of {}",
                       settings.rma_ring_bytes, kShortestRing, kMax, rma_receive_ring::kAlignment);
  }
  return {};
}

}  // namespace

MpiTransportSettings agree_on_settings(const MpiCommunicator& communicator, MpiTransportSettings settings) {
  const std::string problem = problem_of(settings);
  const std::int32_t rank = communicator.rank().value();
  // The smallest eager_bytes, the smallest and the largest fragment_bytes, whether all settings are possible,
  // whether all ranks want rings, and the smallest network_eager_bytes.
  std::array<std::int64_t, 6> least{};
  std::array<std::int64_t, 6> mine{};
  const auto fragment_bytes = static_cast<std::int64_t>(settings.fragment_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiGuard guard(communicator.lock());
    const bool automatic = settings.eager_bytes == 0;
    if (automatic) settings.eager_bytes = automatic_eager_bytes();
    if (settings.network_eager_bytes == 0) {
      settings.network_eager_bytes =
          automatic ? automatic_network_eager_bytes(settings.eager_bytes) : settings.eager_bytes;
    }
    mine = {static_cast<std::int64_t>(settings.eager_bytes),
            fragment_bytes,
            -fragment_bytes,
            problem.empty() ? 1 : 0,
            settings.host_rings ? 1 : 0,
            static_cast<std::int64_t>(settings.network_eager_bytes)};
    check_mpi(MPI_Iallreduce(mine.data(), least.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MIN,
                             communicator.get(), &request),
              "MPI_Iallreduce");
  }
  wait_polled(communicator.lock(), request, "MPI_Iallreduce");
  if (!problem.empty()) {
    throw ConfigurationError(fmt::format("transport settings of rank {}: {}", rank, problem));
  }
  if (least[3] == 0) throw ConfigurationError("the transport settings of another rank are impossible");
  if (least[1] != -least[2]) {
    throw ConfigurationError(
        fmt::format("the transport setting fragment_bytes differs between ranks: {} to {} ({} on rank {})",
                    least[1], -least[2], fragment_bytes, rank));
  }
  settings.eager_bytes = static_cast<std::size_t>(least[0]);
  settings.host_rings = least[4] == 1;
  settings.network_eager_bytes = std::max(settings.eager_bytes, static_cast<std::size_t>(least[5]));
  if (settings.rma_smallest_bytes == 0) settings.rma_smallest_bytes = settings.eager_bytes;
  return settings;
}

}  // namespace lapse
