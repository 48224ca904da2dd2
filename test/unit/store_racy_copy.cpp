#include "lapse/store/words/racy_copy.hpp"

#include <array>
#include <vector>

#include "test/support/catch.hpp"

namespace {

constexpr std::size_t kMaxBytes = 600;
constexpr std::size_t kGuard = 64;
constexpr std::byte kUntouched{0xa5};

}  // namespace

TEST_CASE("racy_copy copies every size to every allowed alignment and writes nothing beyond") {
  alignas(16) std::array<std::byte, kMaxBytes> from{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  alignas(64) std::array<std::byte, kMaxBytes + 2 * kGuard + 64> memory{};

  for (std::size_t bytes = 0; bytes <= kMaxBytes; bytes += 4) {
    for (std::size_t alignment = 0; alignment < 64; alignment += 4) {
      memory.fill(kUntouched);
      std::byte* to = memory.data() + kGuard + alignment;
      lapse::racy_copy(to, from.data(), bytes);
      REQUIRE(std::memcmp(to, from.data(), bytes) == 0);
      const auto untouched = [](std::byte byte) { return byte == kUntouched; };
      REQUIRE(std::all_of(memory.data(), to, untouched));
      REQUIRE(std::all_of(to + bytes, memory.data() + memory.size(), untouched));
    }
  }
}

TEST_CASE("racy_copy reads nothing beyond the source") {
  // A block of exactly the copied size: AddressSanitizer detects a read beyond it.
  for (std::size_t bytes = 4; bytes <= kMaxBytes; bytes += 4) {
    std::vector<std::byte> from(bytes, std::byte{3});
    std::vector<std::byte> to(bytes);
    lapse::racy_copy(to.data(), from.data(), bytes);
    REQUIRE(to == from);
  }
}
