// The containers of the transports: Fifo, BufferPool, PacketBuffer.
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "lapse/transport/packets/buffer_pool.hpp"
#include "lapse/transport/packets/fifo.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"
#include "test/support/catch.hpp"

using lapse::BufferPool;
using lapse::Fifo;
using lapse::PacketBuffer;

TEST_CASE("a fifo returns what was put in, in order, while it grows and wraps around") {
  Fifo<std::unique_ptr<int>> fifo;
  int next_in = 0;
  int next_out = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 7; ++i) fifo.push(std::make_unique<int>(next_in++));
    for (std::size_t i = 0; i < fifo.size(); ++i) REQUIRE(*fifo[i] == next_out + static_cast<int>(i));
    for (int i = 0; i < (round < 20 ? 5 : 9) && !fifo.empty(); ++i) REQUIRE(*fifo.pop() == next_out++);
  }
  while (!fifo.empty()) REQUIRE(*fifo.pop() == next_out++);
  REQUIRE(next_out == next_in);
}

TEST_CASE("the pool hands out a released buffer again, empty, with its memory") {
  BufferPool pool;
  PacketBuffer buffer = pool.acquire();
  buffer.extend(5000);
  const std::byte* const memory = buffer.data();
  pool.release(std::move(buffer));
  const PacketBuffer again = pool.acquire();
  REQUIRE(again.data() == memory);
  REQUIRE(again.empty());
  REQUIRE(again.capacity() >= 5000);
}

TEST_CASE("the pool keeps a limited amount of memory") {
  BufferPool pool;
  std::vector<PacketBuffer> buffers(3);
  for (PacketBuffer& buffer : buffers) {
    buffer.reserve(BufferPool::kKeptBytes / 2);
    pool.release(std::move(buffer));
  }
  REQUIRE(pool.acquire().capacity() > 0);
  REQUIRE(pool.acquire().capacity() > 0);
  REQUIRE(pool.acquire().capacity() == 0);
}

TEST_CASE("a packet buffer reserves what is asked for and keeps its contents") {
  PacketBuffer buffer;
  *buffer.extend(1) = std::byte{42};
  buffer.reserve(100'001);
  REQUIRE(buffer.capacity() == 100'016);
  REQUIRE(buffer.size() == 1);
  REQUIRE(*buffer.data() == std::byte{42});
  REQUIRE(reinterpret_cast<std::uintptr_t>(buffer.data()) % PacketBuffer::kAlignment == 0);
}

TEST_CASE("a packet buffer uses the transport's memory until the packet outgrows it") {
  alignas(PacketBuffer::kAlignment) std::byte memory[64] = {};
  PacketBuffer buffer = PacketBuffer::in_place(memory, sizeof memory);
  REQUIRE(buffer.capacity() == 64);
  REQUIRE(buffer.extend(64) == memory);
  memory[63] = std::byte{42};
  PacketBuffer moved = std::move(buffer);
  REQUIRE(moved.in_place());
  REQUIRE_FALSE(buffer.in_place());
  moved.extend(1);
  REQUIRE_FALSE(moved.in_place());
  REQUIRE(moved.data() != memory);
  REQUIRE(moved.size() == 65);
  REQUIRE(moved.data()[63] == std::byte{42});
}

TEST_CASE("the pool keeps no memory of the transport") {
  alignas(PacketBuffer::kAlignment) std::byte memory[64] = {};
  BufferPool pool;
  pool.release(PacketBuffer::in_place(memory, sizeof memory));
  REQUIRE(pool.acquire().capacity() == 0);
}

TEST_CASE("a packet buffer refuses a length that no memory has, and keeps its contents") {
  PacketBuffer buffer;
  *buffer.extend(1) = std::byte{42};
  for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} - 14, std::size_t{1} << 63U}) {
    CHECK_THROWS_AS(buffer.reserve(bytes), std::bad_alloc);
    CHECK_THROWS_AS(buffer.extend(bytes), std::bad_alloc);
  }
  REQUIRE(buffer.size() == 1);
  REQUIRE(*buffer.data() == std::byte{42});
}
