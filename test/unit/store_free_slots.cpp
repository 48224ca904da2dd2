#include "lapse/store/memory/free_slots.hpp"

#include <cstddef>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "test/support/catch.hpp"

using lapse::FreeSlots;

TEST_CASE("Released slots come back, each once, whichever thread writes to slots in use") {
  for (const std::size_t slot_bytes :
       {std::size_t{16}, std::size_t{32}, std::size_t{112}, std::size_t{4000}}) {
    constexpr std::uint32_t kSlots = 500;
    std::vector<std::byte> memory(kSlots * slot_bytes);
    const auto address = [&](std::uint32_t slot) { return memory.data() + slot * slot_bytes; };
    FreeSlots free(slot_bytes);
    std::set<std::uint32_t> expected;
    std::vector<std::uint32_t> used;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) used.push_back(slot);
    std::mt19937 random(static_cast<unsigned>(slot_bytes));
    for (int step = 0; step < 20'000; ++step) {
      REQUIRE(free.empty() == expected.empty());
      // Long runs of one kind fill nodes and empty them.
      const bool release =
          !used.empty() && (expected.empty() || (random() % 100 < (step / 700 % 2 == 0 ? 90U : 10U)));
      if (release) {
        std::swap(used[random() % used.size()], used.back());
        free.push(used.back(), address);
        REQUIRE(expected.insert(used.back()).second);
        used.pop_back();
      } else {
        const std::uint32_t slot = free.pop(address);
        REQUIRE(expected.erase(slot) == 1);
        used.push_back(slot);
        std::memset(address(slot), 0xab, slot_bytes);
      }
    }
  }
}

TEST_CASE("What was released last comes back first, but for the nodes") {
  constexpr std::size_t kSlotBytes = 64;
  std::vector<std::byte> memory(100 * kSlotBytes);
  const auto address = [&](std::uint32_t slot) { return memory.data() + slot * kSlotBytes; };
  FreeSlots free(kSlotBytes);
  for (const std::uint32_t slot : {7U, 3U, 5U}) free.push(slot, address);
  CHECK(free.pop(address) == 5);
  CHECK(free.pop(address) == 3);
  CHECK(free.pop(address) == 7);
  CHECK(free.empty());
}
