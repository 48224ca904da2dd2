// A packet of more than 2 GiB between two ranks.
#include <mpi.h>

#include <cstddef>
#include <thread>

#include "lapse/transport/mpi/transport.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

TEST_CASE("a packet of more than 2 GiB arrives whole") {
  constexpr std::size_t kBytes = (std::size_t{1} << 31) + 4097;
  constexpr std::size_t kStep = 65'521;  // A prime: the checked bytes fall on all positions of a fragment.
  const auto value_at = [](std::size_t offset) { return static_cast<std::byte>(offset * 31 >> 7); };
  MpiTransport transport(MPI_COMM_WORLD);
  REQUIRE(transport.ranks() == 2);
  bool received = false;
  const Transport::Handler handler = [&](Rank from, std::span<const std::byte> packet) {
    REQUIRE(from == Rank{0});
    REQUIRE(packet.size() == kBytes);
    std::size_t wrong = packet.back() == std::byte{77} ? 0 : 1;
    for (std::size_t offset = 0; offset < kBytes - 1; offset += kStep) {
      if (packet[offset] != value_at(offset)) ++wrong;
    }
    REQUIRE(wrong == 0);
    received = true;
  };
  if (transport.rank() == Rank{0}) {
    PacketBuffer packet;
    packet.reserve(kBytes);
    std::byte* const begin = packet.extend(kBytes);
    for (std::size_t offset = 0; offset < kBytes - 1; offset += kStep) begin[offset] = value_at(offset);
    begin[kBytes - 1] = std::byte{77};
    transport.send(Rank{1}, std::move(packet), Transport::Lane::bulk);
  }
  while (!transport.idle() || (transport.rank() == Rank{1} && !received)) {
    if (transport.poll(handler, 1) == 0) std::this_thread::yield();
  }
  transport.close();
}
