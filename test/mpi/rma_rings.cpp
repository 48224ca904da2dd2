// Bulk packets by remote memory access. Windows are forced, between hosts or within one.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/transport/mpi/library/mpi_library.hpp"
#include "lapse/transport/mpi/transport.hpp"
#include "test/support/catch.hpp"
#include "test/unit/transport_traffic.hpp"

using namespace lapse;
using Catch::Matchers::Contains;
using Lane = Transport::Lane;

namespace {

// Rings that are short enough to be always full, and payloads that fit into none.
constexpr MpiTransportSettings kSmall{.eager_bytes = 256,
                                      .ring_buffers = 4,
                                      .fragment_bytes = 1000,
                                      .fragments_in_flight = 3,
                                      .rma = RmaChoice::on,
                                      .rma_ring_bytes = 4096,
                                      .rma_smallest_bytes = 1};

struct Head {
  std::uint64_t number;
  std::uint64_t ordered;  // 1: sent on the ordered lane
};

std::byte filling(Rank from, const Head& head, std::size_t i) {
  return static_cast<std::byte>(mix_bits(head.number * 31 + from.index()) + i);
}

// Sends packets of random sizes from each rank to each rank, on both lanes. Each arrives once and complete,
// those of the ordered lane in order.
class LaneTraffic {
 public:
  LaneTraffic(Transport& transport, std::size_t packets, std::size_t max_bytes, std::uint64_t seed)
      : transport_(transport),
        packets_(packets),
        max_bytes_(max_bytes),
        random_(seed, transport.rank().index()),
        sent_(static_cast<std::size_t>(transport.ranks())),
        next_ordered_(sent_.size()),
        seen_(sent_.size(), std::vector<bool>(packets)) {}

  void run() {
    while (sent_all_ < packets_ * sent_.size() || received_ < packets_ * sent_.size() || !transport_.idle()) {
      if (random_.below(2) == 0) send_one();
      if (transport_.poll(handler_, 1 + random_.below(8)) == 0) std::this_thread::yield();
    }
  }

 private:
  void send_one() {
    if (sent_all_ == packets_ * sent_.size()) return;
    std::size_t to = random_.below(sent_.size());
    while (sent_[to] == packets_) to = (to + 1) % sent_.size();
    const Head head{sent_[to]++, random_.below(3) == 0 ? 1U : 0U};
    ++sent_all_;
    const std::size_t bytes = sizeof head + random_.below(random_.below(2) == 0 ? 300 : max_bytes_);
    PacketBuffer packet = transport_.acquire_buffer();
    std::byte* const begin = packet.extend(bytes);
    std::memcpy(begin, &head, sizeof head);
    for (std::size_t i = sizeof head; i < bytes; ++i) begin[i] = filling(transport_.rank(), head, i);
    transport_.send(Rank(static_cast<std::int32_t>(to)), std::move(packet),
                    head.ordered == 1 ? Lane::ordered : Lane::bulk);
  }

  void receive(Rank from, std::span<const std::byte> packet) {
    Head head{};
    std::memcpy(&head, packet.data(), sizeof head);
    for (std::size_t i = sizeof head; i < packet.size(); ++i) {
      if (packet[i] != filling(from, head, i)) {
        throw std::runtime_error(fmt::format("packet {} from rank {} is wrong at byte {} of {}", head.number,
                                             from.value(), i, packet.size()));
      }
    }
    if (reinterpret_cast<std::uintptr_t>(packet.data()) % PacketBuffer::kAlignment != 0)
      throw std::runtime_error("a packet is not aligned");
    if (seen_[from.index()][head.number]) throw std::runtime_error("a packet arrived twice");
    seen_[from.index()][head.number] = true;
    if (head.ordered == 1) {
      std::uint64_t& next = next_ordered_[from.index()];
      if (head.number < next) throw std::runtime_error("the ordered lane is not in order");
      next = head.number + 1;
    }
    ++received_;
    if (random_.below(2) == 0) send_one();
  }

  Transport& transport_;
  const std::size_t packets_;
  const std::size_t max_bytes_;
  RandomEngine random_;
  std::vector<std::uint64_t> sent_;  // by receiver
  std::vector<std::uint64_t> next_ordered_;
  std::vector<std::vector<bool>> seen_;
  std::size_t sent_all_ = 0;
  std::size_t received_ = 0;
  const Transport::Handler handler_ = [this](Rank from, std::span<const std::byte> packet) {
    receive(from, packet);
  };
};

void send_bulk(Transport& transport, Rank to, std::size_t bytes) {
  PacketBuffer packet = transport.acquire_buffer();
  std::memset(packet.extend(bytes), 7, bytes);
  transport.send(to, std::move(packet), Lane::bulk);
}

// A rank to which this one has a ring: on another host, if there are several hosts.
Rank partner(const Transport& transport) {
  return *RmaReceiveRingLayout(transport.hosts(), 0).partner(transport.rank());
}

const Transport::Handler kIgnore = [](Rank, std::span<const std::byte>) {};

}  // namespace

TEST_CASE("RMA receive rings: packets on both lanes arrive whole and once, with rings that are always full") {
  MpiTransport transport(MPI_COMM_WORLD, kSmall);
  INFO(transport.rma_receive_rings()->report().text);
  REQUIRE_FALSE(transport.rma_receive_rings()->report().problem);
  REQUIRE(transport.has_separate_bulk_lane() == (transport.ranks() > 1));
  LaneTraffic(transport, 600, 2500, 1).run();
  if (transport.ranks() > 1) CHECK(transport.rma_receive_rings()->received_packets() > 0);
  transport.close();
}

TEST_CASE("RMA receive rings: large packets by the rings of the default size") {
  MpiTransport transport(MPI_COMM_WORLD, {.rma = RmaChoice::on});
  LaneTraffic(transport, 20, std::size_t{3} << 20U, 2).run();
  if (transport.ranks() > 1) CHECK(transport.rma_receive_rings()->received_packets() > 0);
  transport.close();
}

TEST_CASE("RMA receive rings: the ordered lane is what it was") {
  MpiTransport transport(MPI_COMM_WORLD, kSmall);
  test::Traffic(transport, {0, 1, 255, 256, 1000, 5000}, 200, 3).run();
  transport.close();
}

TEST_CASE("RMA receive rings: two transports of a process have windows at the same time") {
  MpiTransport first(MPI_COMM_WORLD, kSmall);
  MpiTransport second(MPI_COMM_WORLD, kSmall);
  LaneTraffic(second, 100, 2500, 4).run();
  LaneTraffic(first, 100, 2500, 5).run();
  first.close();
  second.close();
}

TEST_CASE("RMA receive rings: a handler that throws returns the bytes of its packet") {
  MpiTransport transport(MPI_COMM_WORLD, kSmall);
  if (transport.ranks() > 1 && transport.ranks() % 2 == 0) {
    const Transport::Handler failing = [](Rank, std::span<const std::byte>) {
      throw std::runtime_error("mine");
    };
    const Rank to{transport.rank().value() ^ 1};
    for (int round = 0; round < 20; ++round) {
      send_bulk(transport, to, 1000);
      std::size_t thrown = 0;
      while (thrown == 0 || !transport.idle()) {
        try {
          transport.poll(failing, 1);
        } catch (const std::runtime_error&) {
          ++thrown;
        }
        std::this_thread::yield();
      }
      transport.all_gather({});
    }
  }
  transport.close();
}

TEST_CASE("RMA receive rings: close reports a packet in a ring that was not handled, at both ends") {
  MpiTransport transport(MPI_COMM_WORLD, kSmall);
  if (transport.ranks() > 1) {
    send_bulk(transport, partner(transport), 1000);
    REQUIRE_FALSE(transport.idle());
    REQUIRE_THROWS_WITH(transport.close(), Contains("not idle"));
  } else {
    transport.close();
  }
  REQUIRE_THROWS_AS(send_bulk(transport, Rank{0}, 1), ClosedError);
}

TEST_CASE("RMA receive rings: a transport that is destroyed without close leaves others working") {
  // With an open window, MPICH over UCX aborts the process in MPI_Finalize.
  if (mpi_library().family != MpiFamily::open_mpi) return;
  {
    MpiTransport unclosed(MPI_COMM_WORLD, kSmall);
    if (unclosed.ranks() > 1) {
      send_bulk(unclosed, partner(unclosed), 1000);
      unclosed.poll(kIgnore, 1);
      send_bulk(unclosed, partner(unclosed), 1000);
    }
  }
  MpiTransport transport(MPI_COMM_WORLD, kSmall);
  LaneTraffic(transport, 50, 2500, 6).run();
  transport.close();
}

TEST_CASE("RMA receive rings: automatic makes no window where no adapter asks for one") {
  MpiTransport transport(MPI_COMM_WORLD, {.rdma_devices = "/nowhere"});
  REQUIRE_FALSE(transport.has_separate_bulk_lane());
  REQUIRE_FALSE(transport.rma_receive_rings()->report().problem);
  REQUIRE_THAT(transport.rma_receive_rings()->report().text, Contains("by message"));
  transport.close();
  MpiTransport off(MPI_COMM_WORLD, {.rma = RmaChoice::off});
  REQUIRE_FALSE(off.has_separate_bulk_lane());
  REQUIRE_THAT(off.rma_receive_rings()->report().text, Contains("rma=off"));
  off.close();
}

TEST_CASE("RMA receive rings: automatic measures where all hosts have an adapter, and takes what is faster") {
  const std::filesystem::path devices =
      std::filesystem::temp_directory_path() / ("lapse-rma-rings-" + std::to_string(getpid()));
  std::filesystem::create_directories(devices / "mlx5_0/ports/1");
  std::ofstream(devices / "mlx5_0/ports/1/state") << "4: ACTIVE\n";
  const std::string name = devices.string();
  MpiTransport transport(MPI_COMM_WORLD, {.rma = RmaChoice::automatic, .rdma_devices = name.c_str()});
  const std::string text = transport.rma_receive_rings()->report().text;
  INFO(text);
  CHECK_FALSE(transport.rma_receive_rings()->report().problem);
  CHECK_THAT(text, Contains("rma=auto") || Contains("a single rank"));
  const bool one_host = transport.host_ranks() == transport.ranks();
  CHECK((text.find("us by window") != std::string::npos) == !one_host);
  CHECK(transport.has_separate_bulk_lane() == (text.find("go by remote memory access") != std::string::npos));
  LaneTraffic(transport, 50, 100'000, 7).run();
  transport.close();
  std::filesystem::remove_all(devices);
}

TEST_CASE("RMA receive rings: impossible rings are an error on every rank") {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{1024}, std::size_t{4100}, std::size_t{1} << 40U}) {
    REQUIRE_THROWS_AS(MpiTransport(MPI_COMM_WORLD, {.rma_ring_bytes = bytes}), ConfigurationError);
  }
}
