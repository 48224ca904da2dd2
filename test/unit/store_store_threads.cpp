#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::ElementType;
using lapse::Key;
using lapse::KeyWords;
using lapse::Slot;
using lapse::Store;
using lapse::ValueLayout;
using lapse::ValueSizes;

namespace {

constexpr std::uint64_t kKeys = 3;

// Results of one thread: only the main thread may use Catch2's assertions.
struct Observation {
  std::uint64_t values = 0;
  std::uint64_t absent = 0;
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
};

// All elements of a value are always equal, and never decrease.
void watch(const Store& store, const std::atomic<bool>& stop, Observation& seen) {
  const std::size_t length = store.sizes().layout().length;
  std::vector<std::int64_t> value(length);
  std::int64_t last[kKeys] = {};
  // However late this thread gets a core, it reads at least once.
  for (std::uint64_t round = 0; seen.values == 0 || !stop.load(std::memory_order_relaxed); ++round) {
    const std::uint64_t key = round % kKeys;
    if (!store.read(Key(key), reinterpret_cast<std::byte*>(value.data()))) {
      ++seen.absent;
      continue;
    }
    ++seen.values;
    for (const std::int64_t element : value) {
      if (element != value[0]) ++seen.torn;
    }
    if (value[0] < last[key]) ++seen.backwards;
    last[key] = value[0];
  }
}

// Adds 1 to all elements of each key, until `updates` additions have succeeded.
void add(Store& store, std::uint64_t updates, std::uint64_t& torn) {
  const std::size_t length = store.sizes().layout().length;
  for (std::uint64_t done = 0; done < updates;) {
    const lapse::Found here = store.update(Key(done % kKeys), [&](std::byte* bytes) {
      auto* value = reinterpret_cast<std::int64_t*>(bytes);
      for (std::size_t i = 0; i < length; ++i) {
        if (value[i] != value[length - 1]) ++torn;
        ++value[i];
      }
    });
    if (here) {
      ++done;
    } else {
      std::this_thread::yield();
    }
  }
}

// Transfers ownership of keys and adopts them again with their values, sometimes into another slot.
std::uint64_t move(Store& store, const std::atomic<bool>& stop) {
  std::vector<std::byte> value(store.sizes().value_bytes(Key(0)));
  std::uint64_t moves = 0;
  for (; moves == 0 || !stop.load(std::memory_order_relaxed); ++moves) {
    const Key key(moves % kKeys);
    store.transfer_ownership(key, value.data(), Domain(1));
    store.set_hint(key, Domain(2));
    const Slot other = moves % 2 == 0 ? store.allocate_slot(key) : Slot{};
    store.begin_arrival(key, 0);
    const Slot slot = store.allocate_slot(key);
    std::memcpy(store.address(slot), value.data(), value.size());
    store.publish_owner(key, slot);
    if (moves % 2 == 0) store.release_slot(key, other);
    if (moves % 16 == 0) std::this_thread::yield();
  }
  return moves;
}

void run(std::size_t length, std::uint64_t updates_per_writer) {
  lapse::PrivateRegionAllocator regions;
  Store store(regions, KeyWords::dense(regions, kKeys), ValueSizes(ValueLayout{ElementType::int64, length}),
              kKeys + 1, kKeys);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    store.create(Key(key), [&](std::byte* value) { std::memset(value, 0, length * sizeof(std::int64_t)); });
  }

  constexpr std::size_t kWriters = 2;
  constexpr std::size_t kReaders = 2;
  std::atomic<bool> stop{false};
  std::vector<Observation> seen(kReaders);
  std::vector<std::uint64_t> torn(kWriters);
  std::uint64_t moves = 0;
  std::vector<std::thread> writers;
  std::vector<std::thread> others;
  for (std::size_t i = 0; i < kReaders; ++i) {
    others.emplace_back([&, i] { watch(store, stop, seen[i]); });
  }
  others.emplace_back([&] { moves = move(store, stop); });
  for (std::size_t i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] { add(store, updates_per_writer, torn[i]); });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  for (std::thread& other : others) other.join();

  for (const Observation& one : seen) {
    CHECK(one.torn == 0);
    CHECK(one.backwards == 0);
  }
  for (const std::uint64_t one : torn) CHECK(one == 0);
  std::int64_t sum = 0;
  std::vector<std::int64_t> value(length);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    REQUIRE(store.read(Key(key), reinterpret_cast<std::byte*>(value.data())));
    for (const std::int64_t element : value) REQUIRE(element == value[0]);
    sum += value[0];
  }
  CHECK(sum == static_cast<std::int64_t>(kWriters * updates_per_writer));
  CHECK(store.keys_here() == kKeys);
}

}  // namespace

TEST_CASE("Readers never see a torn value and no update is lost while keys come and go") {
  run(1, 60'000);
  run(9, 60'000);
  run(128, 10'000);
}
