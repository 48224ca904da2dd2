// Packets larger than a message of a host ring, which arrive in pieces.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/host/host_rings.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using Catch::Matchers::Contains;
using host_ring::Kind;

namespace {

constexpr std::size_t kSmallRingBytes = 4096;
constexpr std::size_t kLargest = 992;

// Rings of two ranks, 0 and 1.
class TwoRanks {
 public:
  TwoRanks() : layout_(2, kSmallRingBytes), memory_(layout_.bytes() / sizeof(Page)) {}

  HostRings rings(std::int32_t rank) {
    return {bytes(),
            layout_,
            hosts_,
            Rank(rank),
            nullptr,
            pools_.at(static_cast<std::size_t>(rank)),
            [](std::byte*, std::size_t) { return true; }};
  }
  // For a sender that writes anything: rank 0's end.
  HostRingWriter writer() { return HostRingWriter(layout_.ring(bytes(), 0, 1)); }

 private:
  struct alignas(4096) Page {
    std::array<std::byte, 4096> bytes{};
  };
  std::byte* bytes() { return memory_.data()->bytes.data(); }

  const std::array<std::int32_t, 2> hosts_{0, 0};
  const HostRingsLayout layout_;
  std::vector<Page> memory_;
  std::array<BufferPool, 2> pools_;
};

PacketBuffer sample_packet(std::size_t bytes, std::size_t seed) {
  PacketBuffer buffer;
  std::byte* const begin = buffer.extend(bytes);
  for (std::size_t i = 0; i < bytes; ++i) begin[i] = static_cast<std::byte>((seed + i) * 31 % 255);
  return buffer;
}

bool is_packet(std::span<const std::byte> bytes, std::size_t size, std::size_t seed) {
  const PacketBuffer expected = sample_packet(size, seed);
  return std::ranges::equal(bytes, std::span(expected.data(), size));
}

std::span<const std::byte> bytes_of(const std::uint64_t& number) {
  return std::as_bytes(std::span(&number, 1));
}

}  // namespace

TEST_CASE("host ring pieces: large packets arrive whole and in order between small ones") {
  TwoRanks ranks;
  HostRings sender = ranks.rings(0);
  HostRings receiver = ranks.rings(1);
  REQUIRE(sender.reaches(Rank(1)));
  const std::vector<std::size_t> sizes = {10, kLargest, kLargest + 1, 100, 50'000, 3, 2000, 3000, 0, 40'000};
  for (std::size_t i = 0; i < sizes.size(); ++i) sender.send(Rank(1), sample_packet(sizes[i], i));
  REQUIRE_FALSE(sender.all_written());
  std::size_t next = 0;
  bool was_within = false;
  for (int turns = 0; next < sizes.size() && turns < 1000; ++turns) {
    HostRings::Message message;
    while (receiver.take(message)) {
      REQUIRE(message.from == Rank(0));
      REQUIRE(is_packet(message.packet, sizes[next], next));
      receiver.release();
      ++next;
    }
    was_within = was_within || !receiver.all_received();
    sender.advance();
  }
  REQUIRE(next == sizes.size());
  REQUIRE(was_within);
  REQUIRE(sender.all_written());
  REQUIRE(receiver.all_received());
}

TEST_CASE("host ring pieces: both ends copy at the same time") {
  TwoRanks ranks;
  constexpr std::size_t kPackets = 200;
  std::thread sender([&] {
    HostRings rings = ranks.rings(0);
    if (!rings.reaches(Rank(1))) return;
    for (std::size_t i = 0; i < kPackets; ++i) {
      rings.send(Rank(1), sample_packet(1000 * (i % 17), i));
      if (i % 8 == 0) rings.advance();
    }
    while (!rings.all_written()) {
      rings.advance();
      std::this_thread::yield();
    }
  });
  HostRings receiver = ranks.rings(1);
  std::size_t wrong = 0;
  for (std::size_t next = 0; next < kPackets;) {
    HostRings::Message message;
    if (!receiver.take(message)) {
      std::this_thread::yield();
      continue;
    }
    wrong += is_packet(message.packet, 1000 * (next % 17), next) ? 0 : 1;
    receiver.release();
    ++next;
  }
  sender.join();
  REQUIRE(wrong == 0);
}

TEST_CASE("host ring pieces: what is left at the end is counted once") {
  TwoRanks ranks;
  HostRings sender = ranks.rings(0);
  HostRings receiver = ranks.rings(1);
  REQUIRE(sender.reaches(Rank(1)));
  for (std::size_t i = 0; i < 3; ++i) sender.send(Rank(1), sample_packet(20'000, i));
  // Of the first, only pieces have been written, of which the receiver may have taken some.
  HostRings::Message message;
  if (GENERATE(false, true)) REQUIRE_FALSE(receiver.take(message));
  REQUIRE(receiver.discard_received() == 1);
  REQUIRE(sender.abandon() == 2);
  REQUIRE(sender.all_written());
}

TEST_CASE("host ring pieces: a packet for which there is no memory is reported once, and its sender waits") {
  TwoRanks ranks;
  HostRings receiver = ranks.rings(1);
  HostRingWriter writer = ranks.writer();
  const std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max() / 2;
  REQUIRE(writer.write(Kind::announcement, bytes_of(bytes)));
  const PacketBuffer piece = sample_packet(900, 0);
  while (writer.write(Kind::piece, piece.bytes())) continue;
  HostRings::Message message;
  REQUIRE_THROWS_AS(receiver.take(message), OutOfMemory);
  for (int i = 0; i < 2; ++i) REQUIRE_FALSE(receiver.take(message));
  REQUIRE_FALSE(receiver.all_received());
  REQUIRE_FALSE(writer.write(Kind::piece, piece.bytes()));
}

TEST_CASE("host ring pieces: messages that no sender writes are refused") {
  TwoRanks ranks;
  HostRings receiver = ranks.rings(1);
  HostRingWriter writer = ranks.writer();
  HostRings::Message message;
  const std::uint64_t bytes = kLargest + 10;
  SECTION("an announcement of a packet that is not large") {
    const std::uint64_t small = kLargest;
    REQUIRE(writer.write(Kind::announcement, bytes_of(small)));
    REQUIRE_THROWS_WITH(receiver.take(message), Contains("expected more than 992"));
  }
  SECTION("an announcement of another length") {
    REQUIRE(writer.write(Kind::announcement, bytes_of(bytes).first(4)));
    REQUIRE_THROWS_WITH(receiver.take(message), Contains("an announcement of 4 bytes"));
  }
  SECTION("a second announcement") {
    REQUIRE(writer.write(Kind::announcement, bytes_of(bytes)));
    REQUIRE(writer.write(Kind::announcement, bytes_of(bytes)));
    REQUIRE_THROWS_WITH(receiver.take(message), Contains("after the packet announced before"));
  }
  SECTION("a piece without an announcement") {
    REQUIRE(writer.write(Kind::piece, sample_packet(10, 0).bytes()));
    REQUIRE_THROWS_WITH(receiver.take(message), Contains("a piece of 10 bytes from rank 0"));
  }
  SECTION("an empty piece, or too many of them") {
    REQUIRE(writer.write(Kind::announcement, bytes_of(bytes)));
    REQUIRE(writer.write(Kind::piece, sample_packet(bytes - 900, 0).bytes()));
    REQUIRE_FALSE(receiver.take(message));
    REQUIRE(writer.write(Kind::piece, sample_packet(GENERATE(0, 901), 0).bytes()));
    REQUIRE_THROWS_WITH(receiver.take(message), Contains("of whose packet 900 bytes are missing"));
  }
  SECTION("a packet between the pieces") {
    REQUIRE(writer.write(Kind::announcement, bytes_of(bytes)));
    REQUIRE(writer.write(Kind::packet, sample_packet(10, 0).bytes()));
    REQUIRE_THROWS_WITH(receiver.take(message), Contains("within an announced one"));
  }
}
