// Rings of bytes that another rank writes: in the memory of a host, and by remote memory access.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/host/host_ring.hpp"
#include "lapse/transport/rma/rma_receive_ring_reader.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

// A sender that writes arbitrary bytes to its memory, between the messages that the receiver takes.
void read_host_ring(FuzzInput& input) {
  constexpr std::size_t kCapacity = 1024;
  struct alignas(host_ring::kAlignment) Memory {
    std::array<std::byte, kCapacity> bytes{};
  };
  const auto memory = std::make_unique<Memory>();
  host_ring::Position published{0};
  host_ring::Position consumed{0};
  HostRingReader reader({memory->bytes.data(), kCapacity, &published, &consumed});
  try {
    while (!input.empty()) {
      const std::size_t at = input.byte() % (kCapacity / 16) * 16;
      const auto bytes = std::as_bytes(input.take(input.byte()));
      std::ranges::copy(bytes.first(std::min(bytes.size(), kCapacity - at)), memory->bytes.begin() + at);
      const std::uint64_t step = input.number<std::uint16_t>();
      published = step == 0xffff ? input.number<std::uint64_t>() : published + step;
      for (int i = 0; i < 4 && reader.has_message() && !reader.found_unused(); ++i) {
        const HostRingMessage message = reader.message();
        check(message.bytes.size() <= host_ring::largest_message(kCapacity), "messages have a largest size");
        const std::vector<std::byte> copy(message.bytes.begin(), message.bytes.end());
        reader.release();
      }
    }
  } catch (const ProtocolError&) {
    // Refused.
  }
}

void read_rma_ring(FuzzInput& input) {
  constexpr std::uint64_t kCapacity = 4096;
  RmaReceiveRingReader reader(kCapacity);
  try {
    while (!input.empty()) {
      const auto begin = input.number<std::uint64_t>();
      const auto bytes = input.number<std::uint64_t>();
      const std::uint64_t at = reader.arrived(begin, bytes);
      check(at < kCapacity && bytes <= kCapacity - at, "a payload is inside its ring");
      if (input.byte() % 8 != 0) reader.consumed();
      if (reader.owes_credit())
        check(reader.take_credit() <= begin + bytes + 64, "credit is for what has come");
    }
  } catch (const ProtocolError&) {
    // Refused.
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lapse::test::FuzzInput input(data, size);
  input.byte() % 2 == 0 ? lapse::test::read_host_ring(input) : lapse::test::read_rma_ring(input);
  return 0;
}
