#include "lapse/store/row_elements.hpp"

#include <cstring>
#include <numeric>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using namespace lapse;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::uint64_t kKeys = 100;
constexpr std::size_t kLength = 30;
constexpr std::uint64_t kAbsent = 57;

// Element i of key k is 1000 k + i. All keys are owned except one.
template <class T>
struct Fixture {
  LimitedRegionAllocator regions;
  Store store;
  RowElements elements{store};

  explicit Fixture(bool sparse = false)
      : store(regions, sparse ? KeyWords::sparse(regions, kKeys) : KeyWords::dense(regions, kKeys),
              ValueSizes(ValueLayout{element_type<T>(), kLength}), kKeys, kKeys) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      if (key == kAbsent) continue;
      store.create(Key(key), [&](std::byte* to) {
        for (std::size_t i = 0; i < kLength; ++i) {
          const T element = static_cast<T>(1000 * key + i);
          std::memcpy(to + i * sizeof(T), &element, sizeof element);
        }
      });
    }
  }

  RowElements::Done read(const std::vector<Key>& keys, const std::vector<std::uint32_t>& indices) {
    values.assign(indices.size(), T{-1});
    return elements.read({keys, indices}, reinterpret_cast<std::byte*>(values.data()));
  }
  std::vector<T> values;
};

template <class T>
void check_reads(bool sparse) {
  Fixture<T> fixture(sparse);
  // All pairs of a pattern with runs of 1, 2, 3, 1, 2, 3, … pairs, for every number of them.
  std::vector<Key> keys;
  std::vector<std::uint32_t> indices;
  std::size_t runs = 0;
  for (std::uint64_t at = 0; keys.size() < 120; ++at, ++runs) {
    for (std::uint64_t i = 0; i <= at % 3; ++i) {
      keys.emplace_back(at * 7 % (kAbsent - 1));
      indices.push_back(static_cast<std::uint32_t>((at * 5 + i * 11) % kLength));
    }
  }
  for (std::size_t size = 0; size <= keys.size(); ++size) {
    const std::vector<Key> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(size));
    const std::vector<std::uint32_t> at(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(size));
    const RowElements::Done done = fixture.read(some, at);
    REQUIRE(done.pairs == size);
    REQUIRE(done.copies == 0);
    for (std::size_t i = 0; i < size; ++i)
      REQUIRE(fixture.values[i] == static_cast<T>(1000 * some[i].value() + at[i]));
  }
  CHECK(fixture.read(keys, indices).runs == runs);
}

}  // namespace

TEST_CASE("Elements of many keys are read, run by run, up to a key that is not local") {
  check_reads<float>(false);
  check_reads<std::int64_t>(false);
  check_reads<double>(true);
  check_reads<std::int32_t>(true);

  Fixture<float> fixture;
  for (const std::size_t before : {0U, 1U, 15U, 16U, 17U, 40U}) {
    std::vector<Key> keys(before);
    for (std::size_t i = 0; i < before; ++i) keys[i] = Key(i % kAbsent);
    keys.insert(keys.end(), 30, Key(kAbsent));
    const RowElements::Done done = fixture.read(keys, std::vector<std::uint32_t>(keys.size(), 3));
    CHECK(done.pairs == before);
    CHECK(done.runs == before);
    for (std::size_t i = 0; i < before; ++i)
      CHECK(fixture.values[i] == static_cast<float>(1000 * (i % kAbsent) + 3));
  }
}

TEST_CASE("The pairs of one key are one run, or several long ones") {
  Fixture<double> fixture;
  std::vector<std::uint32_t> indices(2 * ElementPairs::kMaxRun + 5);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::uint32_t>(i * 13 % kLength);
  const std::vector<Key> all(indices.size(), Key(8));
  for (const std::vector<Key>& keys : {std::vector<Key>{Key(8)}, all}) {
    const RowElements::Done done = fixture.read(keys, indices);
    CHECK(done.pairs == indices.size());
    CHECK(done.runs == 3);
    for (std::size_t i = 0; i < indices.size(); ++i)
      REQUIRE(fixture.values[i] == 8000 + static_cast<double>(indices[i]));
  }
}

TEST_CASE("A run is updated under one latch, up to a key that is not local") {
  Fixture<std::int64_t> fixture;
  const std::vector<Key> keys{Key(1), Key(1), Key(1), Key(2), Key(1), Key(kAbsent), Key(3)};
  const std::vector<std::uint32_t> indices{4, 5, 4, 0, 4, 1, 1};
  const std::uint32_t before = fixture.store.word(Key(1)).sequence();
  std::vector<std::size_t> firsts;
  const RowElements::Done done = fixture.elements.update(
      {keys, indices}, Store::Reach::any, [&](std::size_t first, std::size_t end, std::byte* slot) {
        firsts.push_back(first);
        for (std::size_t i = first; i < end; ++i) {
          CHECK(fixture.store.word(keys[i]).latched());
          reinterpret_cast<std::int64_t*>(slot)[indices[i]] += 7;
        }
      });
  CHECK(done.pairs == 5);
  CHECK(done.runs == 3);
  CHECK(firsts == std::vector<std::size_t>{0, 3, 4});
  CHECK(fixture.store.word(Key(1)).sequence() == before + 2);
  fixture.read(keys, indices);
  fixture.values.resize(5);
  CHECK(fixture.values == std::vector<std::int64_t>{1004 + 21, 1005 + 7, 1004 + 21, 2007, 1004 + 21});
}

TEST_CASE("A leased key has no open elements") {
  Fixture<float> fixture;
  REQUIRE(fixture.store.grant_lease(Key(5)));
  const std::vector<std::uint32_t> indices{1};
  CHECK(fixture.read({Key(5)}, indices).pairs == 0);
  float value = 0;
  Store::Word& word = *fixture.store.find(Key(5));
  CHECK_FALSE(fixture.elements.read_at(word, Store::Reach::main, {indices.data(), 1},
                                       reinterpret_cast<std::byte*>(&value)));
  REQUIRE(fixture.store.release_lease(Key(5)));
  CHECK(fixture.elements.read_at(word, Store::Reach::main, {indices.data(), 1},
                                 reinterpret_cast<std::byte*>(&value)));
  CHECK(value == 5001);
}
