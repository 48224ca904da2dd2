// Collective calls of MpiTransport, misuse, and errors that close detects.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/gather_watch.hpp"
#include "lapse/transport/mpi/transport.hpp"
#include "test/mpi/transport_packets.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using Catch::Matchers::Contains;

namespace {

const Transport::Handler kIgnore = [](Rank, std::span<const std::byte>) {};

}  // namespace

TEST_CASE("all_gather returns the bytes of every rank, of any length, in rank order") {
  MpiTransport transport(MPI_COMM_WORLD);
  for (std::size_t round = 0; round < 20; ++round) {
    const auto length = [&](std::size_t rank) {
      return (rank * 7919 + round * 104'729) % 50'000 * (round % 3);
    };
    const std::size_t me = transport.rank().index();
    const std::vector<std::byte> mine(length(me), static_cast<std::byte>(me + round));
    const auto gathered = transport.all_gather(mine);
    REQUIRE(gathered.size() == static_cast<std::size_t>(transport.ranks()));
    for (std::size_t rank = 0; rank < gathered.size(); ++rank) {
      REQUIRE(gathered[rank] == std::vector<std::byte>(length(rank), static_cast<std::byte>(rank + round)));
    }
  }
  transport.close();
}

TEST_CASE("A long all_gather reports the ranks that have not arrived, and close finds no notice in flight") {
  class Watch final : public GatherWatch {
   public:
    explicit Watch(Rank last) : last_(last) {}
    Duration patience() const override { return std::chrono::milliseconds(20); }
    void report(Duration, std::span<const Rank> missing) noexcept override {
      if (missing.size() != 1 || missing[0] != last_ || done_) return;
      done_ = true;
      MPI_Ssend(nullptr, 0, MPI_BYTE, last_.value(), 0, MPI_COMM_WORLD);
    }

   private:
    Rank last_;
    bool done_ = false;
  };
  MpiTransport transport(MPI_COMM_WORLD);
  const Rank last{transport.ranks() - 1};
  for (int round = 0; round < 3; ++round) {
    if (transport.rank() == last) {
      // Each of the others has noticed that only this rank is missing.
      for (std::int32_t other = 0; other < last.value(); ++other)
        MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    Watch watch(last);
    REQUIRE(transport.all_gather({}, &watch).size() == static_cast<std::size_t>(transport.ranks()));
  }
  transport.close();
}

TEST_CASE("the transport reports its rank and the number of ranks") {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MpiTransport transport(MPI_COMM_WORLD);
  REQUIRE(transport.rank() == Rank{rank});
  REQUIRE(transport.ranks() == ranks);
  REQUIRE(transport.host_ranks() >= 1);
  REQUIRE(transport.host_ranks() <= ranks);
  REQUIRE_FALSE(transport.host_name().empty());
  REQUIRE(transport.communicator().thread_level() >= MPI_THREAD_SERIALIZED);
  REQUIRE_FALSE(transport.has_separate_bulk_lane());
  transport.close();
}

TEST_CASE("close reports a packet that was not received, on the receiver") {
  for (const auto& [bytes, rings] : {std::pair(std::size_t{10}, true), std::pair(std::size_t{10}, false),
                                     std::pair(std::size_t{1000}, false)}) {
    MpiTransport transport(MPI_COMM_WORLD, {.host_rings = rings});
    if (transport.rank() == Rank{0}) send_bytes(transport, next_rank(transport), bytes);
    const Rank receiver{transport.ranks() == 1 ? 0 : 1};
    if (transport.rank() == receiver) {
      REQUIRE_THROWS_WITH(transport.close(), Contains("not idle"));
    } else if (transport.rank() == Rank{0}) {
      // The size determines whether MPI still needs the sender's buffer.
      try {
        transport.close();
      } catch (const ProtocolError&) {
      }
    } else {
      REQUIRE_NOTHROW(transport.close());
    }
  }
}

TEST_CASE("close reports announced payloads that were not delivered, on both sides") {
  MpiTransport transport(MPI_COMM_WORLD, {.eager_bytes = 256, .fragment_bytes = 1000, .host_rings = false});
  if (transport.ranks() > 1) {
    send_bytes(transport, next_rank(transport), 100'000);
    REQUIRE_FALSE(transport.idle());
    REQUIRE_THROWS_AS(transport.close(), ProtocolError);
  } else {
    transport.close();
  }
  REQUIRE_THROWS_AS(send_bytes(transport, Rank{0}, 1), ClosedError);
}

TEST_CASE("a transport that is destroyed without close leaves others working") {
  {
    MpiTransport unclosed(MPI_COMM_WORLD, {.eager_bytes = 256, .fragment_bytes = 1000});
    send_bytes(unclosed, next_rank(unclosed), 100);
    send_bytes(unclosed, next_rank(unclosed), 10'000);
    unclosed.poll(kIgnore, 1);
  }
  MpiTransport transport(MPI_COMM_WORLD);
  std::size_t received = 0;
  send_bytes(transport, next_rank(transport), 100);
  while (received == 0 || !transport.idle()) {
    received += transport.poll(kIgnore, 10);
    std::this_thread::yield();
  }
  transport.close();
}

TEST_CASE("misuse is a typed error and leaves the transport usable") {
  MpiTransport transport(MPI_COMM_WORLD);
  REQUIRE_THROWS_AS(send_bytes(transport, Rank{transport.ranks()}, 1), UsageError);
  REQUIRE_THROWS_AS(send_bytes(transport, Rank{-1}, 1), UsageError);
  send_bytes(transport, transport.rank(), 1);
  REQUIRE_THROWS_WITH(
      transport.poll([&](Rank, std::span<const std::byte>) { transport.poll(kIgnore, 1); }, 1),
      Contains("poll"));
  send_bytes(transport, transport.rank(), 1);
  const Transport::Handler failing = [](Rank, std::span<const std::byte>) {
    throw std::runtime_error("mine");
  };
  REQUIRE_THROWS_WITH(transport.poll(failing, 1), "mine");
  send_bytes(transport, transport.rank(), 1);
  REQUIRE(transport.poll(kIgnore, 10) == 1);
  REQUIRE(transport.poll(kIgnore, 0) == 0);
  transport.close();
  REQUIRE_THROWS_AS(transport.poll(kIgnore, 1), ClosedError);
  REQUIRE_THROWS_AS(transport.all_gather({}), ClosedError);
  REQUIRE_THROWS_AS(transport.close(), ClosedError);
}

TEST_CASE("impossible settings of one rank are an error on every rank") {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool last = rank == ranks - 1;
  const auto construct = [&](MpiTransportSettings unusual) {
    MpiTransport transport(MPI_COMM_WORLD, last ? unusual : MpiTransportSettings{});
  };
  REQUIRE_THROWS_AS(construct({.eager_bytes = 10}), ConfigurationError);
  REQUIRE_THROWS_AS(construct({.eager_bytes = 500, .network_eager_bytes = 499}), ConfigurationError);
  REQUIRE_THROWS_AS(construct({.ring_buffers = 1}), ConfigurationError);
  REQUIRE_THROWS_AS(construct({.fragment_bytes = 0}), ConfigurationError);
  REQUIRE_THROWS_AS(construct({.fragments_in_flight = 0}), ConfigurationError);
  if (ranks > 1) REQUIRE_THROWS_AS(construct({.fragment_bytes = 5000}), ConfigurationError);
}

TEST_CASE("ranks with different eager sizes use the smallest") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MpiTransport transport(MPI_COMM_WORLD, {.eager_bytes = 500 + static_cast<std::size_t>(rank)});
  REQUIRE(transport.eager_packet_bytes() == 499);
  transport.close();
  MpiTransport apart(MPI_COMM_WORLD,
                     {.eager_bytes = 500, .network_eager_bytes = 900 - static_cast<std::size_t>(rank)});
  REQUIRE(apart.eager_packet_bytes() == 499);
  const std::int32_t last = apart.ranks() - 1;
  if (apart.hosts()[static_cast<std::size_t>(last)] != apart.hosts()[Rank(rank).index()])
    REQUIRE(apart.eager_packet_bytes(Rank(last)) == static_cast<std::size_t>(899 - last));
  apart.close();
}

TEST_CASE("only intracommunicators are accepted") {
  REQUIRE_THROWS_AS(MpiTransport(MPI_COMM_NULL), MpiStateError);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) return;  // An intercommunicator needs two groups.
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter);
  REQUIRE_THROWS_WITH(MpiTransport(inter), Contains("intercommunicator"));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&mine);
}
