// The stand-in for a host's shared memory inside one process, and doorbells in it.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/host/host_doorbells.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "lapse/transport/loopback/shared_memory.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using std::chrono::microseconds;
using std::chrono::seconds;

TEST_CASE("Ranks of a group get the same pieces, zeroed, at a page boundary; other groups get others") {
  LoopbackMemory memory(1 << 20);
  LoopbackSharedMemory a(memory);
  LoopbackSharedMemory b(memory);
  LoopbackSharedMemory other(memory);
  a.join_group(1);
  b.join_group(1);
  other.join_group(2);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{100'000}}) {
    std::byte* const piece = a.allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(piece) % 4096 == 0);
    CHECK(std::all_of(piece, piece + bytes, [](std::byte byte) { return byte == std::byte{0}; }));
    std::memset(piece, 1, bytes);
    CHECK(b.allocate(bytes) == piece);
    CHECK(piece[bytes - 1] == std::byte{1});
    CHECK(other.allocate(bytes) != piece);
  }
  CHECK_THROWS_AS(a.allocate((1 << 20) + 1), OutOfMemory);
  CHECK(a.free_bytes() == 1 << 20);
}

TEST_CASE("Transports inside a process share memory by groups") {
  LoopbackNetwork network(3, false, 1 << 16);
  ThreadedLoopback threaded(3, {.delay_seed = {}, .shared_bytes = 1 << 16});
  const auto check = [](auto& net) {
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      Transport& transport = net.endpoint(Rank(rank));
      CHECK(transport.shared_memory()->problem().empty());
      CHECK(transport.shared_memory()->free_bytes() == 1 << 16);
      CHECK(transport.hosts() == std::vector<std::int32_t>(3, 0));
      transport.shared_memory()->join_group(rank / 2);
    }
    std::byte* const first = net.endpoint(Rank(0)).shared_memory()->allocate(5000);
    CHECK(net.endpoint(Rank(1)).shared_memory()->allocate(5000) == first);
    CHECK(net.endpoint(Rank(2)).shared_memory()->allocate(5000) != first);
    CHECK(net.endpoint(Rank(0)).shared_memory()->allocate(10) != first);
    CHECK_THROWS_AS(net.endpoint(Rank(0)).shared_memory()->allocate((1 << 16) + 1), OutOfMemory);
  };
  check(network);
  check(threaded);
}

TEST_CASE("A doorbell over a shared word wakes the sleeper from another doorbell over it") {
  // Anonymous shared pages have a different futex key than private ones.
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  constexpr int kTurns = 5000;
  constexpr seconds kSleep{10};
  auto* words = reinterpret_cast<std::byte*>(page);
  std::atomic<int> turn{0};
  const auto play = [&](int self) {
    Doorbell own(*reinterpret_cast<Doorbell::Word*>(words + 64 * self));
    Doorbell others(*reinterpret_cast<Doorbell::Word*>(words + 64 * (1 - self)));
    for (int i = self; i < kTurns; i += 2) {
      while (turn.load(std::memory_order_acquire) != i)
        own.sleep(kSleep, [&] { return turn.load(std::memory_order_acquire) == i; });
      turn.store(i + 1, std::memory_order_release);
      others.ring();
    }
  };
  const auto start = std::chrono::steady_clock::now();
  std::thread other(play, 1);
  play(0);
  other.join();
  CHECK(turn == kTurns);
  CHECK(std::chrono::steady_clock::now() - start < kSleep);
  munmap(page, 4096);
}

TEST_CASE("Every rank of a host has its doorbell in a line of its own; ringing a remote rank does nothing") {
  const std::vector<std::int32_t> hosts{0, 1, 0, 0, 1};
  alignas(64) std::byte lines[3 * HostDoorbells::kLineBytes] = {};
  HostDoorbells of_0(lines, hosts, Rank(0));
  HostDoorbells of_3(lines, hosts, Rank(3));
  const auto line_of = [&](int line) {
    std::uint32_t word = 0;
    std::memcpy(&word, lines + line * 64, sizeof word);
    return word;
  };
  of_0.ring(Rank(1));
  of_0.ring(Rank(4));
  bool asked = false;
  of_3.own().sleep(microseconds(1), [&] {
    // Rank 3 is the third of its host and has announced its sleep.
    CHECK(line_of(0) == 0);
    CHECK(line_of(1) == 0);
    CHECK(line_of(2) == 1);
    of_0.ring(Rank(2));
    CHECK(line_of(2) == 1);
    of_0.ring(Rank(3));
    CHECK(line_of(2) == 0);
    asked = true;
    return true;
  });
  CHECK(asked);
}
