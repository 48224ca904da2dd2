#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::ElementType;
using lapse::Key;
using lapse::KeyWords;
using lapse::LeaseState;
using lapse::Slot;
using lapse::Store;
using lapse::ValueLayout;
using lapse::ValueSizes;

namespace {

constexpr std::uint64_t kKeys = 3;
constexpr std::size_t kLength = 9;
constexpr std::size_t kTakers = 2;
constexpr std::size_t kReaders = 2;
constexpr std::uint64_t kChanges = 8'000;
using Value = std::array<std::int64_t, kLength>;

// Results of one thread: only the main thread may use Catch2's assertions.
struct Observation {
  std::uint64_t values = 0;
  std::uint64_t changes = 0;
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
};

// Requests of a worker to the engine, and the engine's answers.
enum class Step { idle, wanted, granted, ended };
struct alignas(64) Taker {
  std::atomic<Step> step{Step::idle};
  Key key{};
};

// All elements of a value are always equal, and never decrease.
void watch(const Store& store, const std::atomic<bool>& stop, Observation& seen) {
  Value last{};
  for (std::uint64_t round = 0; seen.values == 0 || !stop.load(std::memory_order_relaxed); ++round) {
    const std::uint64_t key = round % kKeys;
    if (round % 64 == 0) std::this_thread::yield();
    Value value;
    if (!store.read(Key(key), reinterpret_cast<std::byte*>(value.data()))) continue;
    ++seen.values;
    for (const std::int64_t element : value) seen.torn += element != value[0] ? 1 : 0;
    seen.backwards += value[0] < last[key] ? 1 : 0;
    last[key] = value[0];
  }
}

void add_one(std::byte* content, Observation& seen) {
  auto* value = reinterpret_cast<std::int64_t*>(content);
  for (std::size_t i = 0; i < kLength; ++i) {
    seen.torn += value[i] != value[kLength - 1] ? 1 : 0;
    ++value[i];
  }
  ++seen.changes;
}

void update(Store& store, Observation& seen) {
  while (seen.changes < kChanges) {
    if (!store.update(Key(seen.changes % kKeys), [&](std::byte* content) { add_one(content, seen); }))
      std::this_thread::yield();
  }
}

// Takes leases, changes the values in place without a latch, and ends the leases itself if it may.
void take(Store& store, Taker& taker, const std::atomic<bool>& everything_happened, Observation& seen) {
  while (seen.changes < kChanges / 4 || !everything_happened.load(std::memory_order_relaxed)) {
    taker.key = Key(seen.changes % kKeys);
    taker.step.store(Step::wanted, std::memory_order_release);
    while (taker.step.load(std::memory_order_acquire) != Step::granted) std::this_thread::yield();
    add_one(store.leased_content(taker.key), seen);
    if (seen.changes % 8 == 0) std::this_thread::yield();  // so that other threads wait for the lease
    const bool alone = store.release_lease(taker.key);
    taker.step.store(alone ? Step::idle : Step::ended, std::memory_order_release);
    while (taker.step.load(std::memory_order_acquire) != Step::idle) std::this_thread::yield();
  }
}

// The serving rank: grants leases, lets takers queue, ends queued leases, and sometimes lets the key leave
// and return instead.
class Engine {
 public:
  Engine(Store& store, std::array<Taker, kTakers>& takers) : store_(store), takers_(takers) {}

  void run(const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_acquire)) {
      for (Taker& taker : takers_) {
        const Step step = taker.step.load(std::memory_order_acquire);
        if (step == Step::wanted && !is_queued(taker)) grant(taker);
        if (step == Step::ended) end(taker);
      }
      std::this_thread::yield();
    }
  }
  // Takers have waited for leases, and keys have moved between two leases.
  const std::atomic<bool>& everything_happened() const { return everything_happened_; }

 private:
  bool is_queued(const Taker& taker) const {
    const auto& queue = queues_[taker.key.index()];
    return std::find(queue.begin(), queue.end(), &taker) != queue.end();
  }
  void grant(Taker& taker) {
    if (store_.grant_lease(taker.key)) {
      taker.step.store(Step::granted, std::memory_order_release);
    } else if (store_.mark_queued(taker.key)) {
      // Else the lease has ended meanwhile: another attempt will grant it.
      queues_[taker.key.index()].push_back(&taker);
    }
  }
  void end(Taker& taker) {
    auto& queue = queues_[taker.key.index()];
    Taker* next = queue.front();
    queue.pop_front();
    const LeaseState lease = queue.empty() ? LeaseState::held : LeaseState::held_and_queued;
    if (++ends_ % 3 == 0) {
      Value value;
      store_.transfer_leased_ownership(taker.key, reinterpret_cast<std::byte*>(value.data()), Domain(1));
      store_.begin_arrival(taker.key, 0);
      const Slot slot = store_.allocate_slot(taker.key);
      std::memcpy(store_.address(slot), value.data(), sizeof value);
      store_.publish_owner(taker.key, slot, lease);
      everything_happened_.store(true, std::memory_order_relaxed);
    } else {
      store_.set_lease(taker.key, lease);
    }
    next->step.store(Step::granted, std::memory_order_release);
    taker.step.store(Step::idle, std::memory_order_release);
  }

  Store& store_;
  std::array<Taker, kTakers>& takers_;
  std::array<std::deque<Taker*>, kKeys> queues_;
  std::uint64_t ends_ = 0;
  std::atomic<bool> everything_happened_{false};
};

void run(KeyWords words, lapse::RegionAllocator& regions) {
  Store store(regions, std::move(words), ValueSizes(ValueLayout{ElementType::int64, kLength}), kKeys, kKeys);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    store.create(Key(key), [](std::byte* value) { std::memset(value, 0, sizeof(Value)); });
  }
  std::array<Taker, kTakers> takers;
  Engine engine(store, takers);
  std::atomic<bool> stop{false};
  std::vector<Observation> seen(kReaders + 1 + kTakers);
  std::vector<std::thread> others;
  std::vector<std::thread> changers;
  others.emplace_back([&] { engine.run(stop); });
  for (std::size_t i = 0; i < kReaders; ++i) others.emplace_back([&, i] { watch(store, stop, seen[i]); });
  changers.emplace_back([&] { update(store, seen[kReaders]); });
  for (std::size_t i = 0; i < kTakers; ++i) {
    changers.emplace_back(
        [&, i] { take(store, takers[i], engine.everything_happened(), seen[kReaders + 1 + i]); });
  }
  for (std::thread& changer : changers) changer.join();
  stop = true;
  for (std::thread& other : others) other.join();

  std::uint64_t changes = 0;
  for (const Observation& one : seen) {
    CHECK(one.torn == 0);
    CHECK(one.backwards == 0);
    changes += one.changes;
  }
  std::uint64_t sum = 0;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    Value value;
    REQUIRE(store.read(Key(key), reinterpret_cast<std::byte*>(value.data())));
    for (const std::int64_t element : value) REQUIRE(element == value[0]);
    sum += static_cast<std::uint64_t>(value[0]);
  }
  CHECK(sum == changes);
}

}  // namespace

TEST_CASE("Leases, readers and updates compete and nothing is torn or lost") {
  lapse::PrivateRegionAllocator regions;
  run(KeyWords::dense(regions, kKeys), regions);
  run(KeyWords::sparse(regions, kKeys), regions);
}

TEST_CASE("A lease that another rank takes and ends in memory delays a transfer, and never breaks it") {
  lapse::PrivateRegionAllocator regions;
  const Key key(0);
  Store store(regions, KeyWords::dense(regions, 1), ValueSizes(ValueLayout{ElementType::int64, kLength}), 2,
              2);
  store.create(key, [](std::byte* content) { std::memset(content, 1, sizeof(Value)); });
  std::atomic<bool> stop{false};
  std::uint64_t leases = 0;
  std::thread neighbour([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      if (!store.grant_lease(key)) continue;
      ++leases;
      store.release_lease(key);
    }
  });
  std::uint64_t refused = 0;
  bool broken = false;
  Value content;
  auto* const bytes = reinterpret_cast<std::byte*>(content.data());
  try {
    // Until both have met often enough.
    for (std::uint64_t moves = 0; moves < 100 * kChanges || refused < kChanges; ++moves) {
      while (!store.transfer_ownership(key, bytes, Domain(1))) ++refused;
      store.begin_arrival(key, 0);
      const Slot slot = store.allocate_slot(key);
      std::memcpy(store.address(slot), bytes, sizeof content);
      store.publish_owner(key, slot);
    }
  } catch (const lapse::ProtocolError&) {
    broken = true;
  }
  stop = true;
  neighbour.join();
  CHECK_FALSE(broken);
  CHECK(leases > 0);
}
