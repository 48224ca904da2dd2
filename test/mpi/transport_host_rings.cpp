// Packets between ranks of a host through rings in shared memory: which ranks use them, handlers that throw,
// and errors that close detects.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/transport.hpp"
#include "test/mpi/transport_packets.hpp"
#include "test/support/catch.hpp"
#include "test/unit/transport_traffic.hpp"

using namespace lapse;
using Catch::Matchers::Contains;

namespace {

constexpr MpiTransportSettings kShortRings{.fragment_bytes = 1000, .host_ring_bytes = 4096};

// Whether every rank has a next rank on this host.
bool all_by_rings(const Transport& transport) {
  return transport.ranks() > 1 && transport.host_ranks() == transport.ranks();
}

}  // namespace

TEST_CASE("host rings: used where all ranks want them") {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MpiTransport one_without(MPI_COMM_WORLD, {.host_rings = rank != ranks - 1});
  REQUIRE(one_without.host_ring_packet_bytes() == 0);
  test::Traffic(one_without, {0, 100, 20'000}, 20, 1).run();
  one_without.close();
  MpiTransport with(MPI_COMM_WORLD);
  // The largest packet of the protocol fits.
  REQUIRE((with.host_ring_packet_bytes() >= Transport::kPacketBytes) == (with.host_ranks() > 1));
  REQUIRE(with.packet_bytes(Rank(ranks - 1)) == Transport::kPacketBytes);
  with.close();
  REQUIRE_THROWS_AS(MpiTransport(MPI_COMM_WORLD, {.host_ring_bytes = 100}), ConfigurationError);
}

TEST_CASE("host rings: packets of random sizes between all ranks") {
  MpiTransport transport(MPI_COMM_WORLD, kShortRings);
  if (all_by_rings(transport)) {
    REQUIRE(transport.packet_bytes(Rank(1)) == transport.host_ring_packet_bytes());
  }
  RandomEngine random(9, 0);
  std::vector<std::size_t> sizes(200);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = random.below(i % 20 == 0 ? 5000 : 993);
  test::Traffic(transport, sizes, 3000, 10).run();
  transport.close();
}

TEST_CASE("host rings: a handler that throws frees the room of its packet, and the order is kept") {
  MpiTransport transport(MPI_COMM_WORLD, kShortRings);
  constexpr std::size_t kPackets = 40;
  for (std::size_t i = 0; i < kPackets; ++i)
    send_bytes(transport, next_rank(transport), i % 5 == 4 ? 3000 + i : 600 + i);
  std::size_t next = 0;
  const Transport::Handler failing = [&](Rank, std::span<const std::byte> packet) {
    const std::size_t i = next++;
    if (packet.size() != (i % 5 == 4 ? 3000 + i : 600 + i)) throw UsageError("another packet was expected");
    throw std::runtime_error("mine");
  };
  while (next < kPackets || !transport.idle()) {
    try {
      transport.poll(failing, 3);
    } catch (const std::runtime_error& error) {
      REQUIRE(std::string(error.what()) == "mine");
    }
    std::this_thread::yield();
  }
  transport.close();
}

TEST_CASE("host rings: close reports packets that found no room and packets that were not handled") {
  MpiTransport transport(MPI_COMM_WORLD, kShortRings);
  if (!all_by_rings(transport)) return transport.close();
  for (int i = 0; i < 10; ++i) send_bytes(transport, next_rank(transport), 900);
  REQUIRE_FALSE(transport.idle());
  REQUIRE_THROWS_WITH(transport.close(), Contains("not idle") && Contains("6 unfinished sends") &&
                                             Contains("4 received and not delivered"));
}

TEST_CASE("host rings: close reports an announced packet that was not handled") {
  MpiTransport transport(MPI_COMM_WORLD, kShortRings);
  if (!all_by_rings(transport)) return transport.close();
  send_bytes(transport, next_rank(transport), 100'000);
  REQUIRE_THROWS_WITH(transport.close(), Contains("not idle") && Contains("1 received and not delivered"));
}

TEST_CASE("host rings: a transport that is destroyed with full rings leaves others working") {
  {
    MpiTransport unclosed(MPI_COMM_WORLD, kShortRings);
    for (int i = 0; i < 10; ++i) send_bytes(unclosed, next_rank(unclosed), 900);
  }
  MpiTransport transport(MPI_COMM_WORLD, kShortRings);
  test::Traffic(transport, {0, 100, 992, 993}, 50, 11).run();
  transport.close();
}
