// The rings between the ranks of a host, with threads in place of ranks: order, waiting for space, turns,
// memory that cannot be allocated, sleeping receivers.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/transport/host/host_rings.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr std::size_t kRingBytes = 4096;

// Memory that every "rank" of a host maps at the same address.
class HostMemory {
 public:
  HostMemory(std::vector<std::int32_t> hosts, std::int32_t ranks, std::size_t ring_bytes = kRingBytes)
      : hosts_(std::move(hosts)), layout_(ranks, ring_bytes), bytes_(layout_.bytes() + 4096) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
  }
  ~HostMemory() { munmap(memory_, bytes_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  HostDoorbells bells(std::int32_t rank) { return {memory_ + layout_.bytes(), hosts_, Rank(rank)}; }
  HostRings rings(std::int32_t rank, BufferPool& pool, HostDoorbells* bells = nullptr,
                  bool has_memory = true) {
    return {memory_,
            layout_,
            hosts_,
            Rank(rank),
            bells,
            pool,
            [=](std::byte*, std::size_t) { return has_memory; }};
  }

 private:
  const std::vector<std::int32_t> hosts_;
  const HostRingsLayout layout_;
  const std::size_t bytes_;
  std::byte* memory_;
};

PacketBuffer packet(std::uint64_t number, std::size_t bytes) {
  PacketBuffer buffer;
  std::byte* const begin = buffer.extend(sizeof number + bytes);
  std::memcpy(begin, &number, sizeof number);
  std::memset(begin + sizeof number, static_cast<int>(number % 251), bytes);
  return buffer;
}

std::optional<std::uint64_t> take_number(HostRings& rings, std::optional<Rank> from = std::nullopt) {
  HostRings::Message message;
  if (!rings.take(message)) return std::nullopt;
  std::uint64_t number = 0;
  std::memcpy(&number, message.packet.data(), sizeof number);
  const auto rest = message.packet.subspan(sizeof number);
  const bool whole = std::all_of(rest.begin(), rest.end(),
                                 [&](std::byte b) { return b == static_cast<std::byte>(number % 251); });
  rings.release();
  if (!whole || (from && message.from != *from)) return ~std::uint64_t{0};
  return number;
}

}  // namespace

TEST_CASE("host rings: only the other ranks of the host are reached") {
  HostMemory memory({0, 1, 0, 1, 0}, 3);
  BufferPool pool;
  HostRings rings = memory.rings(2, pool);
  REQUIRE(rings.reaches(Rank(0)));
  REQUIRE_FALSE(rings.reaches(Rank(1)));
  REQUIRE_FALSE(rings.reaches(Rank(2)));
  REQUIRE_FALSE(rings.reaches(Rank(3)));
  REQUIRE(rings.reaches(Rank(4)));
  HostRings first = memory.rings(0, pool);
  HostRings last = memory.rings(4, pool);
  rings.send(Rank(0), packet(7, 10));
  rings.send(Rank(4), packet(8, 10));
  REQUIRE(take_number(last, Rank(2)) == 8U);
  REQUIRE(take_number(first, Rank(2)) == 7U);
  REQUIRE_FALSE(take_number(first));
}

TEST_CASE("host rings: messages that find no room wait in order, and the receiver is rung for them") {
  using std::chrono::microseconds;
  constexpr std::uint64_t kMessages = 100;
  HostMemory memory({0, 0}, 2);
  BufferPool pool;
  HostDoorbells bells = memory.bells(0);
  HostDoorbells receiver_bells = memory.bells(1);
  HostRings sender = memory.rings(0, pool, &bells);
  HostRings receiver = memory.rings(1, pool, &receiver_bells);
  REQUIRE(sender.reaches(Rank(1)));
  for (std::uint64_t number = 0; number < kMessages; ++number) sender.send(Rank(1), packet(number, 500));
  REQUIRE_FALSE(sender.all_written());
  std::uint64_t next = 0;
  while (next < kMessages) {
    const std::uint64_t before = next;
    while (const auto number = take_number(receiver)) REQUIRE(*number == next++);
    REQUIRE(next > before);
    if (next == kMessages) break;
    // The receiver has found no more messages and sleeps; the waiting ones enter the ring and wake it.
    std::thread sleeper([&] { receiver_bells.own().sleep(std::chrono::seconds(60), [] { return false; }); });
    while (!receiver_bells.own().is_asleep()) std::this_thread::yield();
    sender.advance();
    sleeper.join();
  }
  sender.advance();
  REQUIRE(sender.all_written());
  // A later message does not overtake the waiting ones.
  for (std::uint64_t number = 0; number < 10; ++number) sender.send(Rank(1), packet(number, 900));
  REQUIRE(take_number(receiver) == 0U);
  sender.send(Rank(1), packet(10, 0));
  for (std::uint64_t number = 1; number <= 10; ++number) {
    sender.advance();
    REQUIRE(take_number(receiver) == number);
  }
  REQUIRE(sender.all_written());
}

TEST_CASE("host rings: senders are taken in turn") {
  HostMemory memory({0, 0, 0, 0}, 4);
  BufferPool pool;
  HostRings receiver = memory.rings(1, pool);
  for (const std::int32_t from : {0, 2, 3}) {
    HostRings sender = memory.rings(from, pool);
    REQUIRE(sender.reaches(Rank(1)));
    for (std::uint64_t number = 0; number < 5; ++number)
      sender.send(Rank(1), packet(number * 10 + static_cast<std::uint64_t>(from), 4));
  }
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 3; ++i) sum += take_number(receiver).value();
    REQUIRE(sum == 30 * round + 5);
  }
}

TEST_CASE("host rings: a ring for which there is no memory is not used, and its receiver learns it") {
  HostMemory memory({0, 0, 0}, 3);
  BufferPool pool;
  HostRings receiver = memory.rings(0, pool);
  HostRings without = memory.rings(1, pool, nullptr, false);
  HostRings with = memory.rings(2, pool);
  REQUIRE_FALSE(without.reaches(Rank(0)));
  REQUIRE_FALSE(without.reaches(Rank(0)));
  REQUIRE(with.reaches(Rank(0)));
  with.send(Rank(0), packet(5, 5));
  REQUIRE_FALSE(receiver.has_unused());
  REQUIRE(take_number(receiver, Rank(2)) == 5U);
  REQUIRE_FALSE(take_number(receiver));
  REQUIRE(receiver.has_unused());
}

TEST_CASE("host rings: what is left at the end is counted") {
  HostMemory memory({0, 0}, 2);
  BufferPool pool;
  HostRings sender = memory.rings(0, pool);
  HostRings receiver = memory.rings(1, pool);
  REQUIRE(sender.reaches(Rank(1)));
  for (std::uint64_t number = 0; number < 10; ++number)
    sender.send(Rank(1), packet(number, number == 9 ? 9000 : 900));
  const std::size_t in_ring = receiver.discard_received();
  REQUIRE(in_ring == 4);
  REQUIRE(sender.abandon() == 10 - in_ring);
  REQUIRE(sender.all_written());
  REQUIRE(receiver.discard_received() == 0);
}

TEST_CASE("host rings: every rank sends to every rank, on threads") {
  constexpr std::int32_t kRanks = 4;
  constexpr std::uint64_t kMessages = 2000;
  HostMemory memory(std::vector<std::int32_t>(kRanks, 0), kRanks);
  std::vector<std::thread> threads;
  std::vector<std::uint64_t> wrong(kRanks, 0);
  std::atomic<std::int32_t> done{0};
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      BufferPool pool;
      HostRings rings = memory.rings(rank, pool);
      RandomEngine random(1, static_cast<std::uint64_t>(rank));
      std::vector<std::uint64_t> next(kRanks, 0);
      std::uint64_t received = 0;
      const std::uint64_t sizes[] = {40, 900, 12'000};
      for (std::uint64_t sent = 0;
           sent < kMessages || received < kMessages * (kRanks - 1) || !rings.all_written();) {
        if (sent < kMessages) {
          for (std::int32_t to = 0; to < kRanks; ++to) {
            if (!rings.reaches(Rank(to))) continue;
            rings.send(Rank(to), packet(sent, random.below(sizes[random.below(3)])));
          }
          ++sent;
        }
        rings.advance();
        HostRings::Message message;
        if (!rings.take(message)) {
          std::this_thread::yield();
          continue;
        }
        std::uint64_t number = 0;
        std::memcpy(&number, message.packet.data(), sizeof number);
        if (number != next[message.from.index()]++) ++wrong[static_cast<std::size_t>(rank)];
        const auto last = message.packet.back();
        if (message.packet.size() > 8 && last != static_cast<std::byte>(number % 251))
          ++wrong[static_cast<std::size_t>(rank)];
        rings.release();
        ++received;
      }
      ++done;
      // Others may still write to the rings of this rank's senders: all threads leave together.
      while (done.load() < kRanks) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(wrong == std::vector<std::uint64_t>(kRanks, 0));
}

TEST_CASE("host rings: packets in the ring itself, copied and waiting ones keep their order") {
  constexpr std::size_t kLargest = 992;
  HostMemory memory({0, 0}, 2);
  BufferPool pool;
  HostRings sender = memory.rings(0, pool);
  HostRings receiver = memory.rings(1, pool);
  REQUIRE(sender.largest_message() == kLargest);
  REQUIRE(sender.reaches(Rank(1)));
  RandomEngine random(1, 0);
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  int in_place = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random.below(20) < 11) {
      if (const auto number = take_number(receiver)) REQUIRE(*number == taken++);
      sender.advance();
      continue;
    }
    // Messages that fill the reserved space, exceed it, or are copied.
    PacketBuffer buffer;
    if (random.below(4) != 0) buffer = sender.begin(Rank(1), random.below(kLargest), random.below(kLargest));
    in_place += buffer.in_place() ? 1 : 0;
    const std::size_t room = buffer.capacity();
    REQUIRE(room <= kLargest);
    const std::size_t bytes =
        random.below(5) == 0 ? random.below(kLargest - 7) : room - std::min<std::size_t>(room, 8);
    buffer.append(packet(sent++, bytes).bytes());
    sender.send(Rank(1), std::move(buffer));
  }
  while (taken < sent) {
    const auto number = take_number(receiver);
    if (number) REQUIRE(*number == taken++);
    sender.advance();
  }
  REQUIRE(sender.all_written());
  REQUIRE(in_place > 1000);
  // While packets wait, and for a packet that is larger than a message, nothing can be reserved in the ring.
  REQUIRE_FALSE(sender.begin(Rank(1), kLargest + 1, kLargest + 1).in_place());
  for (std::uint64_t number = 0; number < 5; ++number) sender.send(Rank(1), packet(number, 900));
  REQUIRE_FALSE(sender.all_written());
  REQUIRE_FALSE(sender.begin(Rank(1), 8, 8).in_place());
}
