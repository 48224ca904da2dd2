// Reads of elements while other threads change them.
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "lapse/store/row_elements.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using namespace lapse;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::uint64_t kKeys = 3;
constexpr std::size_t kLength = 40;

}  // namespace

TEST_CASE("A run reads elements of one moment while another thread pushes") {
  LimitedRegionAllocator regions;
  Store store(regions, KeyWords::dense(regions, kKeys), ValueSizes(ValueLayout{ElementType::int64, kLength}),
              kKeys, kKeys);
  for (std::uint64_t key = 0; key < kKeys; ++key)
    store.create(Key(key), [](std::byte* to) { std::memset(to, 0, kLength * 8); });
  constexpr std::int64_t kPushes = 20'000;
  const RowElements elements(store);
  std::atomic<bool> ends = false;
  // Each push adds 1 to two elements of each key.
  std::thread writer([&] {
    const std::vector<Key> keys{Key(0), Key(0), Key(1), Key(1), Key(2), Key(2)};
    const std::vector<std::uint32_t> indices{3, 37, 3, 37, 3, 37};
    for (std::int64_t push = 0; push < kPushes; ++push) {
      elements.update({keys, indices}, Store::Reach::any,
                      [&](std::size_t first, std::size_t end, std::byte* slot) {
                        for (std::size_t i = first; i < end; ++i)
                          ++reinterpret_cast<std::int64_t*>(slot)[indices[i]];
                      });
    }
    ends = true;
  });
  std::vector<Key> keys;
  std::vector<std::uint32_t> indices;
  for (std::uint64_t i = 0; i < 30; ++i) {
    keys.insert(keys.end(), 2, Key(i % kKeys));
    indices.insert(indices.end(), {37, 3});
  }
  bool together = true;
  bool rises = true;
  std::vector<std::int64_t> last(kKeys, 0);
  while (!ends) {
    std::vector<std::int64_t> values(keys.size());
    REQUIRE(elements.read({keys, indices}, reinterpret_cast<std::byte*>(values.data())).pairs == keys.size());
    for (std::size_t i = 0; i < values.size(); i += 2) {
      together &= values[i] == values[i + 1];
      rises &= values[i] >= last[keys[i].index()];
      last[keys[i].index()] = values[i];
    }
  }
  writer.join();
  CHECK(together);
  CHECK(rises);
  std::vector<std::int64_t> value(kLength);
  REQUIRE(store.read(Key(1), reinterpret_cast<std::byte*>(value.data())));
  CHECK(value[3] == kPushes);
  CHECK(value[37] == kPushes);
}
