// Runs of keys that are read while other threads change them.
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "lapse/store/push_run.hpp"
#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr std::uint64_t kSharedKeys = 24;
constexpr std::uint64_t kPushes = 3000;  // of each thread to each key

// All elements of a value are always equal, and never decrease. Returns how often they were not so.
std::uint64_t count_faults(const Store& store, const std::vector<Key>& keys, const std::atomic<bool>& stop) {
  const std::size_t length = store.sizes().layout().length;
  std::vector<std::int64_t> values(keys.size() * length);
  std::vector<std::int64_t> last(keys.size());
  std::uint64_t faults = 0;
  for (bool first = true; first || !stop.load(std::memory_order_relaxed); first = false) {
    const Store::Run run =
        store.read_run<Store::Reach::any>(keys, reinterpret_cast<std::byte*>(values.data()));
    if (run.keys != keys.size()) ++faults;
    for (std::size_t at = 0; at < run.keys; ++at) {
      const std::int64_t* const value = &values[at * length];
      for (std::size_t i = 0; i < length; ++i) faults += value[i] != value[0] ? 1 : 0;
      faults += value[0] < last[at] ? 1 : 0;
      last[at] = value[0];
    }
  }
  return faults;
}

void push_all(Store& store, const UpdateKernel& add, const std::vector<Key>& keys) {
  const std::vector<std::int64_t> updates(keys.size() * store.sizes().layout().length, 1);
  for (std::uint64_t push = 0; push < kPushes; ++push) {
    push_run(store, add, keys, Store::Reach::main, reinterpret_cast<const std::byte*>(updates.data()), 1.0F);
  }
}

}  // namespace

TEST_CASE("Runs of keys are read whole while two threads push to them, and no push is lost") {
  for (const std::size_t length : {1, 3, 25, 60}) {
    PrivateRegionAllocator regions;
    Store store(regions, KeyWords::dense(regions, kSharedKeys),
                ValueSizes(ValueLayout{ElementType::int64, length}), kSharedKeys, kSharedKeys);
    std::vector<Key> keys;
    for (std::uint64_t key = 0; key < kSharedKeys; ++key) {
      store.create(Key(key), [&](std::byte* to) { std::memset(to, 0, length * sizeof(std::int64_t)); });
      keys.emplace_back(key);
    }
    const std::vector<Key> backwards(keys.rbegin(), keys.rend());
    const UpdateKernel add(UpdateRule::add(), ElementType::int64);
    std::atomic<bool> stop{false};
    std::uint64_t faults = 0;
    std::thread reader([&] { faults = count_faults(store, keys, stop); });
    std::thread other([&] { push_all(store, add, backwards); });
    push_all(store, add, keys);
    other.join();
    stop.store(true);
    reader.join();
    CHECK(faults == 0);
    std::vector<std::int64_t> values(keys.size() * length);
    REQUIRE(store.read_run<Store::Reach::any>(keys, reinterpret_cast<std::byte*>(values.data())).keys ==
            keys.size());
    for (const std::int64_t element : values) REQUIRE(element == static_cast<std::int64_t>(2 * kPushes));
  }
}
