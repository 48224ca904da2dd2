// One ring between two ranks of a host: where messages are stored, when they fit, what is refused, and both
// ends on their own threads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/transport/host/host_ring.hpp"
#include "lapse/transport/host/host_rings_layout.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using host_ring::Kind;

namespace {

constexpr std::size_t kCapacity = 1024;

// A ring in this process.
class LocalRing {
 public:
  explicit LocalRing(std::size_t capacity) : lines_(capacity / sizeof(Line)) {}
  HostRingMemory memory() {
    return {.bytes = lines_.front().bytes,
            .capacity = lines_.size() * sizeof(Line),
            .published = &published_,
            .consumed = &consumed_};
  }
  std::byte* bytes() { return lines_.front().bytes; }
  std::uint64_t published() const { return published_.load(); }
  std::uint64_t consumed() const { return consumed_.load(); }
  void publish(std::uint64_t position) { published_.store(position); }

 private:
  struct alignas(host_ring::kAlignment) Line {
    std::byte bytes[host_ring::kAlignment] = {};
  };
  std::vector<Line> lines_;
  host_ring::Position published_{0};
  host_ring::Position consumed_{0};
};

std::vector<std::byte> message(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> content(bytes);
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::byte>(mix_bits(seed) + i * 7);
  return content;
}

bool equal(std::span<const std::byte> left, const std::vector<std::byte>& right) {
  return std::ranges::equal(left, right);
}

// Sends and receives one message on a ring that is empty before and after.
void pass(LocalRing& ring, HostRingWriter& writer, HostRingReader& reader, std::size_t bytes) {
  const auto content = message(bytes, bytes);
  REQUIRE_FALSE(reader.has_message());
  REQUIRE(writer.write(Kind::packet, content));
  REQUIRE(reader.has_message());
  const HostRingMessage taken = reader.message();
  REQUIRE(taken.kind == Kind::packet);
  REQUIRE(equal(taken.bytes, content));
  REQUIRE(reinterpret_cast<std::uintptr_t>(taken.bytes.data()) % 16 == 0);
  reader.release();
  REQUIRE(ring.consumed() == ring.published());
}

}  // namespace

TEST_CASE("host ring: messages are whole, aligned, in order and of their kind") {
  LocalRing ring(kCapacity);
  HostRingWriter writer(ring.memory());
  HostRingReader reader(ring.memory());
  REQUIRE_FALSE(reader.has_message());
  REQUIRE(writer.write(Kind::packet, message(48, 1)));
  REQUIRE(ring.published() == 64);
  REQUIRE(writer.write(Kind::announcement, message(8, 2)));
  REQUIRE(writer.write(Kind::packet, {}));
  REQUIRE(writer.write(Kind::packet, message(49, 3)));
  REQUIRE(ring.published() == 320);
  for (const auto& [kind, bytes, seed] :
       {std::tuple(Kind::packet, 48U, 1U), std::tuple(Kind::announcement, 8U, 2U),
        std::tuple(Kind::packet, 0U, 0U), std::tuple(Kind::packet, 49U, 3U)}) {
    REQUIRE(reader.has_message());
    const HostRingMessage taken = reader.message();
    REQUIRE(taken.kind == kind);
    REQUIRE(equal(taken.bytes, message(bytes, seed)));
    reader.release();
  }
  REQUIRE_FALSE(reader.has_message());
  REQUIRE(ring.consumed() == 320);
}

TEST_CASE("host ring: what does not fit the end begins at the start, and nothing in use is overwritten") {
  LocalRing ring(kCapacity);
  HostRingWriter writer(ring.memory());
  HostRingReader reader(ring.memory());
  for (int i = 0; i < 4; ++i) REQUIRE(writer.write(Kind::packet, message(200, 5)));
  REQUIRE(ring.published() == 1024);
  REQUIRE_FALSE(writer.write(Kind::packet, {}));
  REQUIRE(equal(reader.message().bytes, message(200, 5)));
  REQUIRE_FALSE(writer.write(Kind::packet, {}));  // The message is in use until it is released.
  reader.release();
  REQUIRE(writer.write(Kind::packet, message(100, 6)));
  REQUIRE_FALSE(writer.write(Kind::packet, message(200, 7)));
  for (int i = 0; i < 3; ++i) {
    REQUIRE(equal(reader.message().bytes, message(200, 5)));
    reader.release();
  }
  // 896 bytes are left after the message of 128: three messages of 256, none of them split.
  for (int i = 0; i < 3; ++i) REQUIRE(writer.write(Kind::packet, message(240, 8)));
  REQUIRE_FALSE(writer.write(Kind::packet, message(240, 9)));
  REQUIRE(equal(reader.message().bytes, message(100, 6)));
  reader.release();
  reader.message();
  reader.release();
  REQUIRE(writer.write(Kind::packet, message(240, 9)));  // At the start, after a gap of 128.
  REQUIRE(ring.published() == 2048 + 256);
  for (int i = 0; i < 2; ++i) {
    reader.message();
    reader.release();
  }
  REQUIRE(equal(reader.message().bytes, message(240, 9)));
}

TEST_CASE("host ring: a message that is written in place is seen once it is published") {
  LocalRing ring(kCapacity);
  HostRingWriter writer(ring.memory());
  HostRingReader reader(ring.memory());
  const auto publish = [&](std::span<std::byte> room, std::size_t bytes, std::uint64_t seed) {
    REQUIRE(room.size() >= bytes);
    REQUIRE(writer.reserved(room.data()));
    std::ranges::copy(message(bytes, seed), room.begin());
    REQUIRE_FALSE(reader.has_message());
    writer.publish(Kind::packet, bytes);
    REQUIRE(equal(reader.message().bytes, message(bytes, seed)));
    reader.release();
  };
  REQUIRE_FALSE(writer.reserved(nullptr));
  REQUIRE(writer.reserve(10, 100).size() == 112);  // Whole cache lines.
  publish(writer.reserve(10, 240), 200, 1);
  REQUIRE(ring.published() == 256);
  // Bytes that were reserved and not published use no space.
  REQUIRE(writer.reserve(10, 240).size() == 240);
  const auto another = message(200, 2);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(writer.write(Kind::packet, another));
    if (i == 2) break;
    REQUIRE(equal(reader.message().bytes, another));
    reader.release();
  }
  REQUIRE(ring.published() == 1024);
  REQUIRE(equal(reader.message().bytes, another));
  reader.release();
  publish(writer.reserve(100, 100), 100, 3);
  for (std::uint64_t i = 0; i < 3; ++i) publish(writer.reserve(200, 240), 230, i);
  // 128 bytes are left to the end: used if they suffice for the least size, else skipped.
  REQUIRE(ring.published() == 1024 + 896);
  REQUIRE(writer.reserve(112, 240).size() == 112);
  publish(writer.reserve(113, 240), 113, 4);
  REQUIRE(ring.published() == 2048 + 192);
  REQUIRE(ring.consumed() == ring.published());
  // The ring is full: the receiver has not taken the sent messages.
  for (int i = 0; i < 3; ++i) REQUIRE(writer.write(Kind::packet, another));
  REQUIRE(writer.reserve(1, 240).size() == 48);
  REQUIRE(writer.reserve(100, 100).size() == 112);
  REQUIRE(writer.reserve(100, 240).data() == nullptr);
}

TEST_CASE("host ring: an empty ring has room for every message, wherever the last one ended") {
  const std::size_t largest = host_ring::largest_message(kCapacity);
  REQUIRE(largest == 240);
  for (std::size_t first = 0; first <= largest; first += 3) {
    LocalRing ring(kCapacity);
    HostRingWriter writer(ring.memory());
    HostRingReader reader(ring.memory());
    RandomEngine random(first, 0);
    for (int i = 0; i < 100; ++i) pass(ring, writer, reader, i % 2 == 0 ? first : random.below(largest + 1));
  }
}

TEST_CASE("host ring: what no sender writes is refused") {
  const auto refused = [](const std::function<void(LocalRing&)>& damage) {
    LocalRing ring(kCapacity);
    HostRingWriter writer(ring.memory());
    HostRingReader reader(ring.memory());
    REQUIRE(writer.write(Kind::packet, message(100, 1)));
    damage(ring);
    REQUIRE(reader.has_message());
    REQUIRE_THROWS_AS(reader.message(), ProtocolError);
  };
  const auto write_header = [](LocalRing& ring, host_ring::Header header) {
    std::memcpy(ring.bytes(), &header, sizeof header);
  };
  refused([&](LocalRing& ring) { write_header(ring, {100, Kind{4}}); });
  refused([&](LocalRing& ring) { write_header(ring, {~std::uint64_t{0}, Kind::packet}); });
  refused([&](LocalRing& ring) { write_header(ring, {241, Kind::packet}); });
  refused([&](LocalRing& ring) { write_header(ring, {113, Kind::packet}); });  // Beyond what was published.
  refused([&](LocalRing& ring) { write_header(ring, {0, Kind::gap}); });
  refused([](LocalRing& ring) { ring.publish(64); });
  refused([](LocalRing& ring) { ring.publish(129); });
  refused([](LocalRing& ring) { ring.publish(1088); });
  refused([](LocalRing& ring) { ring.publish(~std::uint64_t{0} - 63); });
}

TEST_CASE("host ring: a ring that its sender leaves unused brings nothing") {
  LocalRing ring(kCapacity);
  HostRingWriter(ring.memory()).leave_unused();
  HostRingReader reader(ring.memory());
  REQUIRE(reader.has_message());
  REQUIRE(reader.found_unused());
  REQUIRE_FALSE(reader.has_message());
}

TEST_CASE("host ring: two threads") {
  constexpr std::uint64_t kMessages = 20'000;
  for (const std::size_t capacity : {kCapacity, std::size_t{8192}}) {
    LocalRing ring(capacity);
    const std::size_t largest = host_ring::largest_message(capacity);
    const auto size_of = [&](std::uint64_t number) { return mix_bits(number) % (largest + 1); };
    std::thread sender([&] {
      HostRingWriter writer(ring.memory());
      for (std::uint64_t number = 0; number < kMessages; ++number) {
        const auto content = message(size_of(number), number);
        while (!writer.write(number % 5 == 0 ? Kind::announcement : Kind::packet, content)) {
          std::this_thread::yield();
        }
      }
    });
    HostRingReader reader(ring.memory());
    std::uint64_t wrong = 0;
    for (std::uint64_t number = 0; number < kMessages; ++number) {
      while (!reader.has_message()) std::this_thread::yield();
      const HostRingMessage taken = reader.message();
      const bool is_announcement = taken.kind == Kind::announcement;
      if (is_announcement != (number % 5 == 0) || !equal(taken.bytes, message(size_of(number), number)))
        ++wrong;
      reader.release();
    }
    sender.join();
    REQUIRE(wrong == 0);
    REQUIRE_FALSE(reader.has_message());
  }
}

TEST_CASE("host rings layout: rings of all pairs, none over another, with room by the number of ranks") {
  const HostRingsLayout two(2);
  REQUIRE(two.ring_bytes() == HostRingsLayout::kMaxRingBytes);
  REQUIRE(two.bytes() == page_bytes() + 2 * two.ring_bytes());
  REQUIRE(HostRingsLayout(64).ring_bytes() == HostRingsLayout::kMinRingBytes);
  const std::size_t page = GENERATE(std::size_t{4096}, std::size_t{65536});
  REQUIRE(HostRingsLayout(2, 5000, page).ring_bytes() == (page == 4096 ? 8192 : page));
  for (const std::size_t ranks : {2U, 3U, 10U}) {
    const HostRingsLayout layout(static_cast<std::int32_t>(ranks), 8192, page);
    std::vector<char> used(layout.bytes(), 0);
    std::byte* const memory = reinterpret_cast<std::byte*>(used.data());
    const auto use = [&](const void* begin, std::size_t bytes) {
      const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(begin) - memory);
      REQUIRE(offset + bytes <= used.size());
      for (std::size_t i = offset; i < offset + bytes; ++i) REQUIRE(used[i]++ == 0);
    };
    for (std::size_t to = 0; to < ranks; ++to) {
      for (std::size_t from = 0; from < ranks; ++from) {
        if (from == to) continue;
        const HostRingMemory ring = layout.ring(memory, from, to);
        use(ring.bytes, ring.capacity);
        use(ring.consumed, sizeof *ring.consumed);
        use(ring.published, sizeof *ring.published);
        REQUIRE((reinterpret_cast<std::byte*>(ring.consumed) - memory) % static_cast<std::ptrdiff_t>(page) ==
                0);
        REQUIRE(static_cast<std::size_t>(reinterpret_cast<std::byte*>(ring.published) - memory) <
                layout.position_bytes());
      }
    }
  }
}
