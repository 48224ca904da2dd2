#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/store/words/sparse_words.hpp"
#include "test/support/catch.hpp"

using lapse::Key;
using lapse::PrivateRegionAllocator;
using lapse::RandomEngine;
using lapse::SparseWords;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kKeys = 40'000;
constexpr int kRounds = 2;
#else
constexpr std::uint64_t kKeys = 150'000;
constexpr int kRounds = 10;
#endif

// Even keys are inserted, odd ones never.
Key inserted(std::uint64_t n) {
  return Key(n * 0x1'0000'0002U);
}
Key missing(std::uint64_t n) {
  return Key(n * 0x1'0000'0002U + 1);
}

// Results of one thread: only the main thread may use Catch2's assertions.
struct Observation {
  std::uint64_t looks = 0;
  std::uint64_t lost = 0;
  std::uint64_t invented = 0;
  std::uint64_t wrong_number = 0;
  std::uint64_t moved = 0;
};

// Looks up keys whose insertion had ended, especially the newest, and keys that are never inserted.
void look_up(const SparseWords& words, const std::atomic<std::uint64_t>& done,
             const std::vector<std::atomic<SparseWords::Word*>>& addresses, std::uint64_t stream,
             Observation& seen) {
  RandomEngine random(1, stream);
  for (std::uint64_t size = 0; size < kKeys;) {
    size = done.load(std::memory_order_acquire);
    if (size == 0) continue;
    const std::uint64_t n = random.below(2) == 0 ? random.below(size) : size - 1;
    const SparseWords::Word* word = words.find(inserted(n));
    ++seen.looks;
    if (word == nullptr) {
      ++seen.lost;
    } else {
      if (word != addresses[n].load(std::memory_order_relaxed)) ++seen.moved;
      if (words.number(*words.find(inserted(n))) != n) ++seen.wrong_number;
    }
    if (words.find(missing(random.below(kKeys))) != nullptr) ++seen.invented;
    words.prefetch_bucket(inserted(n));
    words.prefetch_entry(inserted(n));
  }
}

// Every key found by iteration has its correct number.
void pass_along(const SparseWords& words, const std::atomic<std::uint64_t>& done, Observation& seen) {
  for (std::uint64_t size = 0; size < kKeys;) {
    size = done.load(std::memory_order_acquire);
    std::uint64_t n = 0;
    words.for_each([&](Key key, const SparseWords::Word&) {
      if (key != inserted(n++)) ++seen.wrong_number;
    });
    ++seen.looks;
    if (n < size) ++seen.lost;
    if (n > kKeys) ++seen.invented;
  }
}

}  // namespace

TEST_CASE("While a sparse table grows no thread misses a key that is there or finds one that is not") {
  for (int round = 0; round < kRounds; ++round) {
    PrivateRegionAllocator regions;
    SparseWords words(regions, kKeys);
    std::vector<std::atomic<SparseWords::Word*>> addresses(kKeys);
    std::atomic<std::uint64_t> done{0};
    std::vector<Observation> seen(3);
    std::vector<std::thread> threads;
    threads.emplace_back([&] { look_up(words, done, addresses, 0, seen[0]); });
    threads.emplace_back([&] { look_up(words, done, addresses, 1, seen[1]); });
    threads.emplace_back([&] { pass_along(words, done, seen[2]); });
    for (std::uint64_t n = 0; n < kKeys; ++n) {
      addresses[n].store(&words.find_or_insert(inserted(n)), std::memory_order_relaxed);
      done.store(n + 1, std::memory_order_release);
    }
    for (std::thread& thread : threads) thread.join();
    for (const Observation& one : seen) {
      CHECK(one.looks > 0);
      CHECK(one.lost == 0);
      CHECK(one.invented == 0);
      CHECK(one.wrong_number == 0);
      CHECK(one.moved == 0);
    }
  }
}
