// Stores of the ranks of a domain over one memory, with private slots if it does not suffice.
#include <cstring>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using namespace lapse;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::uint64_t kKeys = 40;
constexpr ValueLayout kLayout{ElementType::int64, 2};
constexpr std::uint64_t kPart = 256;  // units of a rank, few of which can be committed
using Value = std::vector<std::int64_t>;

// Commits pages until a limit. The memory outlives the object.
class SharedPart final : public Region {
 public:
  SharedPart(std::byte* base, std::size_t bytes, std::size_t& left)
      : base_(base), bytes_(bytes), left_(left) {}
  std::byte* base() const override { return base_; }
  std::size_t capacity_bytes() const override { return bytes_; }
  bool commit(std::size_t, std::size_t bytes) override {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::byte* base_;
  std::size_t bytes_;
  std::size_t& left_;
};

// Two ranks. `room` values of `first` fit into shared memory, and as many of `second`.
struct SharedDomain {
  explicit SharedDomain(std::uint64_t room)
      : words(real.reserve(kKeys * 8)),
        slots(real.reserve(2 * kPart * 16)),
        first(make_store(0, room, notices[0])),
        second(make_store(1, room, notices[1])) {}

  std::unique_ptr<Store> make_store(std::uint64_t rank, std::uint64_t room, int& notices_of_rank) {
    words->commit(0, kKeys * 8);
    slots->commit(0, 2 * kPart * 16);
    auto word_region = std::make_unique<SharedPart>(words->base(), kKeys * 8, left);
    SlabSpace space{.region = std::make_unique<SharedPart>(slots->base(), 2 * kPart * 16, left),
                    .region_unit = 0,
                    .first_unit = rank * kPart,
                    .max_units = room};
    Store::Overflow overflow{private_regions, 1000 * (rank + 1), kKeys, [&] { ++notices_of_rank; }};
    return std::make_unique<Store>(KeyWords::dense(std::move(word_region), kKeys), std::move(space),
                                   std::move(overflow), ValueSizes(kLayout), 0);
  }

  static void create(Store& store, Key key, std::int64_t element) {
    const Value value(2, element);
    store.create(key, [&](std::byte* to) { std::memcpy(to, value.data(), 16); });
  }
  static Value read(const Store& store, Key key) {
    Value value(2);
    return store.read(key, reinterpret_cast<std::byte*>(value.data())) ? value : Value{};
  }
  static bool add(Store& store, Key key, std::int64_t by) {
    return static_cast<bool>(
        store.update(key, [&](std::byte* to) { reinterpret_cast<std::int64_t*>(to)[0] += by; }));
  }

  PrivateRegionAllocator real;
  LimitedRegionAllocator private_regions;
  std::size_t left = ~std::size_t{0} / 2;
  std::unique_ptr<Region> words;
  std::unique_ptr<Region> slots;
  int notices[2] = {0, 0};
  std::unique_ptr<Store> first;
  std::unique_ptr<Store> second;
};

}  // namespace

TEST_CASE("Ranks of a domain read and update each other's keys in shared memory") {
  SharedDomain domain(20);
  SharedDomain::create(*domain.first, Key(1), 10);
  SharedDomain::create(*domain.second, Key(2), 20);
  CHECK(SharedDomain::read(*domain.second, Key(1)) == Value{10, 10});
  CHECK(SharedDomain::read(*domain.first, Key(2)) == Value{20, 20});
  CHECK(SharedDomain::add(*domain.second, Key(1), 5));
  CHECK(SharedDomain::add(*domain.first, Key(1), 1));
  CHECK(SharedDomain::read(*domain.first, Key(1)) == Value{16, 10});
  CHECK(domain.first->keys_here() == 1);
  CHECK(domain.second->keys_here() == 1);
  CHECK_FALSE(domain.second->is_private(Key(1)));
  for (const Store* store : {domain.first.get(), domain.second.get()}) {
    CHECK(store->is_open(*store->find(Key(1))));
    CHECK_FALSE(store->is_out_of_reach(*store->find(Key(1))));
    CHECK_FALSE(store->is_open(*store->find(Key(3))));
    CHECK_FALSE(store->is_out_of_reach(*store->find(Key(3))));
  }
  // A lease of a neighbour's key.
  CHECK(domain.second->grant_lease(Key(1)));
  CHECK(SharedDomain::read(*domain.first, Key(1)).empty());
  CHECK(domain.second->leased_content(Key(1)) == domain.first->leased_content(Key(1)));
  CHECK(domain.second->release_lease(Key(1)));
  CHECK(domain.notices[0] + domain.notices[1] == 0);
  CHECK(domain.private_regions.committed_bytes() == 0);
}

TEST_CASE("What does not fit is stored in private slots, which the own rank uses as any other") {
  SharedDomain domain(3);
  Store& store = *domain.first;
  for (std::uint64_t key = 0; key < 10; ++key) {
    SharedDomain::create(store, Key(key), static_cast<std::int64_t>(key));
    CHECK(store.is_private(Key(key)) == (key >= 3));
    CHECK(store.is_open(*store.find(Key(key))));
    CHECK_FALSE(store.is_out_of_reach(*store.find(Key(key))));
    CHECK(domain.second->is_open(*domain.second->find(Key(key))) == (key < 3));
    CHECK(domain.second->is_out_of_reach(*domain.second->find(Key(key))) == (key >= 3));
  }
  CHECK(domain.notices[0] == 1);
  CHECK(domain.notices[1] == 0);
  for (std::uint64_t key = 0; key < 10; ++key) {
    CHECK(SharedDomain::add(store, Key(key), 100));
    CHECK(SharedDomain::read(store, Key(key))[0] == 100 + static_cast<std::int64_t>(key));
  }
  std::vector<Key> keys;
  for (std::uint64_t key = 0; key < 10; ++key) keys.emplace_back(key);
  std::vector<Store::Word*> words(10);
  store.find(keys, words.data());
  for (std::uint64_t key = 0; key < 10; ++key) {
    Value value(2);
    CHECK(store.read_at(*words[key], reinterpret_cast<std::byte*>(value.data()), 16));
    CHECK(value[0] == 100 + static_cast<std::int64_t>(key));
  }
  CHECK(store.keys_here() == 10);
  CHECK(store.content_bytes_here() == 160);
  CHECK(store.grant_lease(Key(9)));
  CHECK_FALSE(store.is_open(*store.find(Key(9))));
  CHECK(domain.second->is_out_of_reach(*domain.second->find(Key(9))));
  CHECK(SharedDomain::read(store, Key(9)).empty());
  reinterpret_cast<std::int64_t*>(store.leased_content(Key(9)))[1] = -1;
  CHECK(store.release_lease(Key(9)));
  CHECK(SharedDomain::read(store, Key(9)) == Value{109, -1});
}

TEST_CASE("Another rank's store over the same slot words does not touch private slots") {
  SharedDomain domain(0);
  SharedDomain::create(*domain.first, Key(1), 10);
  SharedDomain::create(*domain.second, Key(2), 20);
  CHECK(domain.notices[0] == 1);
  CHECK(domain.notices[1] == 1);
  for (int i = 0; i < 2; ++i) {
    Store& other = i == 0 ? *domain.second : *domain.first;
    const Store& own = i == 0 ? *domain.first : *domain.second;
    const Key key(i == 0 ? 1 : 2);
    const SlotWord before = own.word(key);
    CHECK(other.is_private(key));
    CHECK(SharedDomain::read(other, key).empty());
    CHECK_FALSE(SharedDomain::add(other, key, 1));
    CHECK_FALSE(other.grant_lease(key));
    other.prefetch_value(key);
    CHECK(own.word(key) == before);
    CHECK(SharedDomain::read(own, key)[0] == (i == 0 ? 10 : 20));
  }
}

TEST_CASE(
    "Keys of private slots leave, the slots come back, and are used before shared ones are asked for again") {
  SharedDomain domain(1);
  Store& store = *domain.first;
  SharedDomain::create(store, Key(0), 1);
  SharedDomain::create(store, Key(1), 2);
  SharedDomain::create(store, Key(2), 3);
  CHECK(store.is_private(Key(2)));
  Value value(2);
  CHECK(store.transfer_ownership(Key(2), reinterpret_cast<std::byte*>(value.data()), lapse::Domain(1)));
  CHECK(value == Value{3, 3});
  CHECK(store.word(Key(2)).role() == Role::absent);
  CHECK(store.word(Key(2)).hint() == lapse::Domain(1));
  CHECK_FALSE(store.is_private(Key(2)));
  // The shared slot is free now: the next key takes it, and the one after it the private slot that was
  // released.
  CHECK(store.transfer_ownership(Key(0), reinterpret_cast<std::byte*>(value.data()), lapse::Domain(1)));
  for (const std::uint64_t key : {std::uint64_t{5}, std::uint64_t{6}}) {
    store.begin_arrival(Key(key), 0);
    const Slot slot = store.allocate_slot(Key(key));
    CHECK(slot.is_private == (key == 6));
    const Value arrived(2, 7);
    std::memcpy(store.address(slot), arrived.data(), 16);
    store.publish_owner(Key(key), slot, key == 6 ? LeaseState::held : LeaseState::none);
  }
  CHECK(store.is_private(Key(6)));
  store.transfer_leased_ownership(Key(6), reinterpret_cast<std::byte*>(value.data()), lapse::Domain(1));
  CHECK(value == Value{7, 7});
  CHECK(domain.notices[0] == 1);
  CHECK(store.keys_here() == 2);
}

TEST_CASE("Where private memory is exhausted too, a key cannot arrive; owned keys stay") {
  SharedDomain domain(1);
  domain.private_regions.set_commit_limit(0);
  SharedDomain::create(*domain.first, Key(0), 1);
  CHECK_THROWS_AS(SharedDomain::create(*domain.first, Key(1), 2), OutOfMemory);
  CHECK(domain.first->word(Key(1)).role() == Role::absent);
  CHECK(SharedDomain::read(*domain.second, Key(0)) == Value{1, 1});
  CHECK(domain.first->keys_here() == 1);
}
