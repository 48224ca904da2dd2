// Packets of many sizes between all ranks over MPI: order, completeness, content, and an empty transport at
// the end.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "lapse/transport/mpi/transport.hpp"
#include "test/support/catch.hpp"
#include "test/unit/transport_traffic.hpp"

using namespace lapse;

namespace {

// Settings small enough to use every path of a packet: a ring that wraps all the time, payloads of many
// fragments with an odd tail, more fragments than may be in flight. Between ranks of a host, packets use
// rings that are always full, or messages.
constexpr MpiTransportSettings small(bool host_rings) {
  return {.eager_bytes = 256,
          .network_eager_bytes = 700,
          .ring_buffers = 4,
          .fragment_bytes = 1000,
          .fragments_in_flight = 3,
          .host_rings = host_rings,
          .host_ring_bytes = 4096};
}
constexpr std::size_t kRingPacket = 992;  // the largest one in such a ring

// Runs the body with and without rings.
template <class Body>
void with_and_without_rings(Body body) {
  for (const bool rings : {true, false}) {
    INFO("host_rings = " << rings);
    body(rings);
  }
}

}  // namespace

TEST_CASE("packets around every size limit arrive whole and in order") {
  with_and_without_rings([](bool rings) {
    MpiTransport transport(MPI_COMM_WORLD, small(rings));
    REQUIRE(transport.eager_packet_bytes() == 255);
    const std::vector<std::int32_t> hosts = transport.hosts();
    for (std::int32_t other = 0; other < transport.ranks(); ++other) {
      const bool same_host = hosts[Rank(other).index()] == hosts[transport.rank().index()];
      REQUIRE(transport.eager_packet_bytes(Rank(other)) == (same_host ? 255 : 699));
    }
    REQUIRE(transport.host_ring_packet_bytes() == (rings && transport.host_ranks() > 1 ? kRingPacket : 0));
    const std::vector<std::size_t> sizes{0,    1,    17,   100,  254,  255,    256,   257,  698,
                                         699,  700,  990,  991,  992,  993,    999,   1000, 1001,
                                         1999, 2000, 2001, 3001, 9999, 12'345, 40'000};
    test::Traffic(transport, sizes, 400, 1).run();
    REQUIRE(transport.idle());
    transport.close();
  });
}

TEST_CASE("packets around the limits of the default settings arrive whole and in order") {
  with_and_without_rings([](bool rings) {
    MpiTransport transport(MPI_COMM_WORLD, {.host_rings = rings});
    const std::size_t eager = transport.eager_packet_bytes();
    constexpr std::size_t kMebibyte = std::size_t{1} << 20;
    test::Traffic(transport, {8, 2000, eager - 1, eager, eager + 1}, 300, 2).run();
    // Sizes of packets between hosts, whether there are several or not, after all ranks have finished the
    // first traffic.
    static_cast<void>(transport.all_gather({}));
    constexpr std::size_t kNetwork = Transport::kPacketBytes;
    test::Traffic(transport, {8, eager + 1, kNetwork - 1, kNetwork, kNetwork + 1, 65'536}, 100, 4).run();
    // No rank begins the last traffic before all have finished the previous one. A rank that is alone on its
    // host has no rings; all ranks expect packets of equal sizes.
    const std::size_t mine = transport.host_ring_packet_bytes();
    std::size_t ring = 0;
    for (const auto& bytes : transport.all_gather(std::as_bytes(std::span(&mine, 1)))) {
      std::size_t of_rank = 0;
      std::memcpy(&of_rank, bytes.data(), sizeof of_rank);
      ring = std::max(ring, of_rank);
    }
    test::Traffic(transport, {64, eager + 1, ring, ring + 1, kMebibyte, kMebibyte + 1, 3 * kMebibyte + 5}, 15,
                  3)
        .run();
    REQUIRE(transport.idle());
    transport.close();
  });
}

TEST_CASE("two transports of a process work at the same time on different communicators") {
  with_and_without_rings([](bool rings) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);  // ranks in reverse order
    MpiTransport whole(MPI_COMM_WORLD, small(rings));
    MpiTransport part(half, small(true));
    MPI_Comm_free(&half);
    REQUIRE(&whole.communicator().lock() == &part.communicator().lock());
    test::Traffic whole_traffic(whole, {1, 255, 256, 5000}, 200, 4);
    test::Traffic part_traffic(part, {1, 255, 256, 5000}, 200, 5);
    for (bool done = false; !done;) {
      const bool whole_done = whole_traffic.step();
      const bool part_done = part_traffic.step();
      done = whole_done && part_done;
    }
    part.close();
    whole.close();
  });
}

TEST_CASE("a transport on MPI_COMM_SELF delivers to itself only") {
  MpiTransport transport(MPI_COMM_SELF, small(true));
  REQUIRE(transport.host_ring_packet_bytes() == 0);
  REQUIRE(transport.ranks() == 1);
  REQUIRE(transport.rank() == Rank{0});
  REQUIRE(transport.host_ranks() == 1);
  test::Traffic(transport, {0, 100, 255, 5000}, 300, 6).run();
  transport.close();
}

TEST_CASE("payloads of several senders arrive side by side, later packets of each wait their turn") {
  with_and_without_rings([](bool rings) {
    MpiTransport transport(MPI_COMM_WORLD, small(rings));
    // Every rank sends a payload and a small packet to rank 0 before rank 0 polls.
    const std::vector<std::size_t> sizes{30'000, 30'001, 5};
    test::Traffic(transport, sizes, 3, 8).run();
    transport.close();
  });
}

TEST_CASE("a burst of sends that no rank receives for a while is buffered") {
  with_and_without_rings([](bool rings) {
    constexpr std::size_t kPackets = 2000;
    MpiTransport transport(MPI_COMM_WORLD, {.host_rings = rings, .host_ring_bytes = std::size_t{16} << 10});
    const auto ranks = static_cast<std::size_t>(transport.ranks());
    const Rank to{(transport.rank().value() + 1) % transport.ranks()};
    for (std::size_t i = 0; i < kPackets; ++i) {
      PacketBuffer packet = transport.acquire_buffer();
      std::memcpy(packet.extend(i % 5000 + sizeof i), &i, sizeof i);
      transport.send(to, std::move(packet), Transport::Lane::ordered);
    }
    transport.all_gather({});
    if (rings) REQUIRE_FALSE(transport.idle());
    std::size_t next = 0;
    const Transport::Handler handler = [&](Rank from, std::span<const std::byte> packet) {
      std::size_t number = 0;
      std::memcpy(&number, packet.data(), sizeof number);
      REQUIRE(from.index() == (transport.rank().index() + ranks - 1) % ranks);
      REQUIRE(number == next);
      REQUIRE(packet.size() == number % 5000 + sizeof number);
      ++next;
    };
    while (next < kPackets || !transport.idle()) {
      if (transport.poll(handler, 64) == 0) std::this_thread::yield();
    }
    transport.close();
  });
}
