#include "lapse/store/words/sparse_words.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::Key;
using lapse::OutOfMemory;
using lapse::PrivateRegionAllocator;
using lapse::RandomEngine;
using lapse::SparseWords;
using lapse::test::contains;
using lapse::test::LimitedRegionAllocator;
using lapse::test::thrown_text;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kMany = 100'000;
#else
constexpr std::uint64_t kMany = 1'000'000;
#endif
constexpr std::uint64_t kMissing = 0x5555'5555'5555'5555U;

std::vector<std::uint64_t> made(const std::function<std::uint64_t(std::uint64_t)>& f) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < kMany; ++i) keys.push_back(f(i));
  return keys;
}

// Inserts the keys, which are distinct, and checks everything that a table reports about them.
void check_keys(const std::vector<std::uint64_t>& keys) {
  PrivateRegionAllocator regions;
  SparseWords words(regions, keys.size());
  std::vector<SparseWords::Word*> addresses;
  // Counted, because millions of assertions would take longer than the tested code.
  std::uint64_t wrong = 0;
  const auto expect = [&](bool right) { wrong += right ? 0 : 1; };
  for (std::uint64_t i = 0; i < keys.size(); ++i) {
    const Key key(keys[i]);
    expect(words.find(key) == nullptr);
    SparseWords::Word& word = words.find_or_insert(key);
    expect(word.load() == 0);
    word.store(i + 1);
    expect(&words.find_or_insert(key) == &word);
    addresses.push_back(&word);
    expect(words.size() == i + 1);
  }
  CHECK(wrong == 0);
  for (std::uint64_t i = 0; i < keys.size(); ++i) {
    const Key key(keys[i]);
    expect(words.find(key) == addresses[i]);
    expect(addresses[i]->load() == i + 1);
    expect(words.number(*words.find(key)) == i);
    words.prefetch_bucket(key);
    words.prefetch_entry(key);
  }
  CHECK(wrong == 0);
  std::uint64_t next = 0;
  words.for_each([&](Key key, const SparseWords::Word& word) {
    expect(key.value() == keys[next] && &word == addresses[next]);
    ++next;
  });
  CHECK(next == keys.size());
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("A new sparse table is empty") {
  PrivateRegionAllocator regions;
  const SparseWords words(regions, 1000);
  CHECK(words.size() == 0);
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    CHECK(words.find(Key(key)) == nullptr);
    words.prefetch_bucket(Key(key));
    words.prefetch_entry(Key(key));
  }
  words.for_each([](Key, const SparseWords::Word&) { FAIL("there is no key"); });
}

TEST_CASE("Sequential keys keep their slot words, addresses and numbers while the table grows") {
  check_keys(made([](std::uint64_t i) { return i; }));
}

TEST_CASE("Random keys keep their slot words, addresses and numbers while the table grows") {
  RandomEngine random(7);
  std::unordered_set<std::uint64_t> seen;
  check_keys(made([&](std::uint64_t) {
    std::uint64_t key = random();
    while (!seen.insert(key).second) key = random();
    return key;
  }));
}

TEST_CASE("Keys that differ in few bits keep their slot words, addresses and numbers") {
  // From both ends; multiples of 2^32; only the upper half, bit-reversed.
  check_keys(made([](std::uint64_t i) { return i % 2 == 0 ? i / 2 : ~(i / 2); }));
  check_keys(made([](std::uint64_t i) { return i << 32; }));
  check_keys(made([](std::uint64_t i) { return i << 44; }));
}

TEST_CASE("Keys that were never inserted are not found") {
  PrivateRegionAllocator regions;
  SparseWords words(regions, kMany);
  RandomEngine random(3);
  for (std::uint64_t i = 0; i < kMany / 10; ++i) {
    words.find_or_insert(Key(2 * i));
    REQUIRE(words.find(Key(2 * random.below(kMany) + 1)) == nullptr);
    REQUIRE(words.find(Key(2 * i + 2)) == nullptr);
  }
}

TEST_CASE("A sparse table holds as many keys as it may, then it is OutOfMemory and works on") {
  PrivateRegionAllocator regions;
  SparseWords words(regions, 100);
  for (std::uint64_t key = 0; key < 100; ++key) words.find_or_insert(Key(key * 1000));
  const std::string text = thrown_text<OutOfMemory>([&] { words.find_or_insert(Key(kMissing)); });
  CHECK(contains(text, "100 keys"));
  CHECK(words.size() == 100);
  CHECK(words.find(Key(kMissing)) == nullptr);
  CHECK(words.number(*words.find(Key(99'000))) == 99);
  CHECK(&words.find_or_insert(Key(5000)) == words.find(Key(5000)));
}

TEST_CASE("Without memory for a further key everything stays as it was, and memory that comes is used") {
  LimitedRegionAllocator regions;
  SparseWords words(regions, 10'000'000);
  // Sometimes the entries reach the limit, sometimes the buckets.
  std::uint64_t key = 0;
  for (int round = 0; round < 20; ++round) {
    regions.set_commit_limit(regions.committed_bytes() + (round % 2 == 0 ? 0 : 64 << 10));
    const auto fill = [&] {
      for (;;) {
        words.find_or_insert(Key(key * 3));
        ++key;
      }
    };
    const std::string text = thrown_text<OutOfMemory>(fill);
    CHECK(contains(text, "bytes"));
    CHECK(words.size() == key);
    CHECK(words.find(Key(key * 3)) == nullptr);
    std::uint64_t seen = 0;
    words.for_each([&](Key, const SparseWords::Word&) { ++seen; });
    CHECK(seen == key);
    for (std::uint64_t old = 0; old < key; ++old) REQUIRE(words.number(*words.find(Key(old * 3))) == old);
    CHECK(words.committed_bytes() == regions.committed_bytes());
    regions.set_commit_limit(~std::size_t{0});
    words.find_or_insert(Key(key * 3));
    ++key;
  }
}

TEST_CASE("A key costs at most the documented bytes, beside the last piece") {
  LimitedRegionAllocator regions;
  SparseWords words(regions, ~std::uint64_t{0});
  CHECK(words.committed_bytes() <= 256 << 10);
  for (std::uint64_t key = 0; key < kMany; ++key) words.find_or_insert(Key(key));
  CHECK(words.committed_bytes() == regions.committed_bytes());
  CHECK(words.committed_bytes() <= kMany * SparseWords::kBytesPerKey + (4 << 20));
}

TEST_CASE("Addresses or first memory that are not there are OutOfMemory") {
  LimitedRegionAllocator no_addresses(~std::size_t{0}, 1000);
  CHECK_THROWS_AS(SparseWords(no_addresses, 1000), OutOfMemory);
  LimitedRegionAllocator no_memory(1000);
  CHECK_THROWS_AS(SparseWords(no_memory, 1000), OutOfMemory);
}
