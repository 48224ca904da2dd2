// The threaded loopback network, one thread for each rank. Also run it under ThreadSanitizer.
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/gather_watch.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/unit/transport_traffic.hpp"

using namespace lapse;

namespace {

// Runs the body on a thread for each rank. Rethrows an exception of any of them.
void on_all_ranks(ThreadedLoopback& network, const std::function<void(Transport&)>& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(network.ranks()));
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < network.ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(network.endpoint(Rank{rank}));
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

void expect(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("threads exchange packets completely and in order") {
  for (const std::optional<std::uint64_t> seed :
       {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{1}, std::optional<std::uint64_t>{2}}) {
    ThreadedLoopback network(4, {.separate_bulk_lane = false, .delay_seed = seed});
    REQUIRE_NOTHROW(on_all_ranks(network, [](Transport& transport) {
      expect(transport.host_ranks() == 4, "host_ranks");
      test::Traffic(transport, {0, 1, 8, 100, 3000}, 300, 11).run();
      transport.close();
    }));
  }
}

TEST_CASE("a separate bulk lane keeps its packets whole and delays reorder them") {
  constexpr std::size_t kPackets = 200;
  ThreadedLoopback network(2, {.separate_bulk_lane = true, .delay_seed = 3});
  std::atomic<bool> overtaken{false};
  REQUIRE_NOTHROW(on_all_ranks(network, [&](Transport& transport) {
    expect(transport.has_separate_bulk_lane(), "has_separate_bulk_lane");
    const Rank other{1 - transport.rank().value()};
    for (std::size_t i = 0; i < kPackets; ++i) {
      PacketBuffer packet = transport.acquire_buffer();
      *packet.extend(1) = static_cast<std::byte>(i);
      transport.send(other, std::move(packet), i % 2 == 0 ? Transport::Lane::ordered : Transport::Lane::bulk);
    }
    std::size_t received = 0;
    std::size_t last = 0;
    std::vector<bool> seen(kPackets);
    while (received < kPackets) {
      transport.poll(
          [&](Rank from, std::span<const std::byte> packet) {
            const auto number = static_cast<std::size_t>(packet[0]);
            expect(from == other && packet.size() == 1 && !seen[number], "a packet arrived twice or changed");
            seen[number] = true;
            if (number < last) overtaken = true;
            last = number;
            ++received;
          },
          5);
    }
    transport.close();
  }));
  REQUIRE(overtaken);
}

TEST_CASE("all_gather returns what each rank brought, again and again") {
  ThreadedLoopback network(5);
  REQUIRE_NOTHROW(on_all_ranks(network, [](Transport& transport) {
    for (std::size_t round = 0; round < 300; ++round) {
      const std::size_t mine = (round + transport.rank().index()) % 7;
      const auto gathered = transport.all_gather(std::vector<std::byte>(mine, static_cast<std::byte>(round)));
      expect(gathered.size() == 5, "number of ranks");
      for (std::size_t rank = 0; rank < 5; ++rank) {
        const std::size_t size = (round + rank) % 7;
        expect(gathered[rank] == std::vector<std::byte>(size, static_cast<std::byte>(round)), "contents");
      }
    }
  }));
}

TEST_CASE("A long all_gather reports the ranks that have not arrived") {
  class Watch final : public GatherWatch {
   public:
    explicit Watch(std::atomic<bool>& right) : right_(right) {}
    Duration patience() const override { return std::chrono::milliseconds(1); }
    void report(Duration waited, std::span<const Rank> missing) noexcept override {
      if (waited >= patience() && missing.size() == 1 && missing[0] == Rank{2}) right_ = true;
    }

   private:
    std::atomic<bool>& right_;
  };
  ThreadedLoopback network(3);
  std::atomic<bool> right{false};
  REQUIRE_NOTHROW(on_all_ranks(network, [&](Transport& transport) {
    for (int round = 0; round < 2; ++round) {
      if (transport.rank() == Rank{2}) {
        while (!right) std::this_thread::yield();
      }
      Watch watch(right);
      transport.all_gather({}, &watch);
      transport.all_gather({});
      if (transport.rank() == Rank{2}) right = false;
      transport.all_gather({});
    }
  }));
}

TEST_CASE("close finds a packet that was not received") {
  ThreadedLoopback network(2);
  REQUIRE_NOTHROW(on_all_ranks(network, [](Transport& transport) {
    if (transport.rank() == Rank{0}) transport.send(Rank{1}, {}, Transport::Lane::ordered);
    bool thrown = false;
    try {
      transport.close();
    } catch (const ProtocolError&) {
      thrown = true;
    }
    expect(thrown == (transport.rank() == Rank{1}), "ProtocolError at the receiver, and only there");
  }));
}

TEST_CASE("misuse of the threaded loopback network is a typed error") {
  ThreadedLoopback network(1);
  REQUIRE_THROWS_AS(ThreadedLoopback(0), UsageError);
  REQUIRE_THROWS_AS(network.endpoint(Rank{1}), UsageError);
  REQUIRE_THROWS_AS(network.endpoint(Rank{0}).send(Rank{7}, {}, Transport::Lane::ordered), UsageError);
  network.endpoint(Rank{0}).close();
  REQUIRE_THROWS_AS(network.endpoint(Rank{0}).poll({}, 1), ClosedError);
}
