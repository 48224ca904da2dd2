// Threads mark units while other threads take them.
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "lapse/store/dirty_set.hpp"
#include "test/support/catch.hpp"

using lapse::DirtySet;

namespace {

// Enough units that the ranges of the takers meet within a word of every level.
constexpr std::uint64_t kDirtyUnits = 2 * 4096 + 1000;
constexpr std::uint64_t kBorder = 4096 + 70;

// A slot with the latch of its key. Counts its writes.
struct LatchedSlot {
  std::atomic_flag latch;
  std::uint64_t writes = 0;

  template <class F>
  void with_latch(F&& f) {
    while (latch.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    f();
    latch.clear(std::memory_order_release);
  }
};

// Few units, so that the threads meet at them.
std::uint64_t draw_unit(std::mt19937& random) {
  constexpr std::array<std::uint64_t, 12> kUnits{
      0, 1, 63, 64, 4095, 4096, kBorder - 1, kBorder, 8 * 1024, kDirtyUnits - 1, kBorder + 1, 4096 + 64};
  return kUnits[random() % kUnits.size()];
}

}  // namespace

TEST_CASE("No mark is lost while slots are marked by two threads and taken by two") {
  constexpr int kWrites = 16'000;
  alignas(64) static std::array<std::byte, DirtySet::bytes(kDirtyUnits)> memory;
  memory.fill(std::byte{0});
  const DirtySet set(memory.data(), kDirtyUnits);
  const auto slots = std::make_unique<std::array<LatchedSlot, kDirtyUnits>>();
  std::vector<std::uint64_t> seen(kDirtyUnits);
  std::atomic<int> writers{2};
  // The writer waits for some of its writes, like wait_sync does: a take that begins afterwards must see
  // them.
  std::array<std::atomic<std::uint64_t>, 2> takes{};
  std::atomic<std::uint64_t> late{0};

  const auto take = [&](std::size_t taker) {
    const std::uint64_t first = taker == 0 ? 0 : kBorder;
    const std::uint64_t count = taker == 0 ? kBorder : kDirtyUnits - kBorder;
    for (bool more = true; more;) {
      more = writers.load(std::memory_order_acquire) > 0;
      set.take(first, count, [&](std::uint64_t unit) {
        (*slots)[unit].with_latch([&] { seen[unit] = (*slots)[unit].writes; });
      });
      takes[taker].fetch_add(1, std::memory_order_acq_rel);
    }
  };
  const auto write = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kWrites; ++i) {
      const std::uint64_t unit = draw_unit(random);
      std::uint64_t written = 0;
      (*slots)[unit].with_latch([&] {
        written = ++(*slots)[unit].writes;
        set.mark(unit);
      });
      if (i % 256 != 0) continue;
      // Once two further takes have ended, one of them began after the mark: it or an earlier one saw the
      // write.
      std::atomic<std::uint64_t>& ended = takes[unit < kBorder ? 0 : 1];
      const std::uint64_t begin = ended.load(std::memory_order_acquire);
      while (ended.load(std::memory_order_acquire) < begin + 2) std::this_thread::yield();
      (*slots)[unit].with_latch([&] {
        if (seen[unit] < written) late.fetch_add(1);
      });
    }
    writers.fetch_sub(1, std::memory_order_acq_rel);
  };
  std::vector<std::thread> threads;
  threads.emplace_back(take, 0);
  threads.emplace_back(take, 1);
  threads.emplace_back(write, 1);
  threads.emplace_back(write, 2);
  for (std::thread& thread : threads) thread.join();

  CHECK(late.load() == 0);
  for (std::uint64_t unit = 0; unit < kDirtyUnits; ++unit) {
    CHECK_FALSE(set.test(unit));
    CHECK(seen[unit] == (*slots)[unit].writes);
  }
}
