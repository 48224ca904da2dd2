// Where a table is stored in the memory that a domain shares.
#include <algorithm>
#include <cstring>
#include <limits>

#include "lapse/ps/tables/shared_table_layout.hpp"
#include "lapse/ps/tables/shared_table_part.hpp"
#include "lapse/transport/loopback/shared_memory.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using namespace lapse;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::size_t kPage = SharedTableLayout::kPageBytes;
constexpr std::size_t kPlenty = std::size_t{1} << 40;

void check_order(const SharedTableLayout& layout, const SharedTableLayout::Request& request) {
  CHECK(layout.word_bytes == request.keys * 8);
  CHECK(layout.owners_offset % kPage == 0);
  CHECK(layout.owners_offset >= layout.word_bytes);
  CHECK(layout.slots_offset % kPage == 0);
  CHECK(layout.notified_offset() >= layout.owners_offset + request.home_keys * sizeof(OwnershipTable::Entry));
  CHECK(layout.dirty_offset >= layout.notified_offset() + sizeof(SharedTableLayout::Notified));
  CHECK(layout.dirty_offset % kPage == 0);
  CHECK(layout.slots_offset >= layout.dirty_offset + DirtySet::bytes(layout.dirty_units));
  CHECK((layout.dirty_units != 0) == request.replicable);
  CHECK(layout.slots_offset == SharedTableLayout::min_bytes(request));
  REQUIRE(layout.parts.size() == request.units.size());
  std::uint64_t end = 0;
  std::uint64_t private_end = 0;
  for (std::size_t i = 0; i < layout.parts.size(); ++i) {
    const SharedTableLayout::Part& part = layout.parts[i];
    CHECK(part.first_unit >= end);
    CHECK(part.first_unit * request.unit_bytes % kPage == 0);
    CHECK(part.units <= request.units[i]);
    CHECK(part.first_private_unit >= private_end);
    CHECK(part.private_units == request.units[i]);
    end = part.first_unit + part.units;
    if (request.replicable) CHECK(end <= layout.dirty_units);
    private_end = part.first_private_unit + part.private_units;
  }
  CHECK(end * request.unit_bytes <= layout.slots_bytes);
  CHECK(layout.total_bytes() == layout.slots_offset + layout.slots_bytes);
}

}  // namespace

TEST_CASE("A layout with plenty of memory has room for every slot of every member") {
  for (const std::size_t unit : {std::size_t{16}, std::size_t{48}, std::size_t{1040}}) {
    const SharedTableLayout::Request request{
        .keys = 1001, .home_keys = 334, .unit_bytes = unit, .units = {500, 0, 300, 201}};
    const SharedTableLayout layout = SharedTableLayout::plan(request, kPlenty);
    check_order(layout, request);
    const SharedTableLayout::Request full_pages{
        .keys = 8192, .home_keys = 4096, .unit_bytes = unit, .units = {8192}};
    check_order(SharedTableLayout::plan(full_pages, kPlenty), full_pages);
    CHECK(layout.complete);
    for (std::size_t i = 0; i < 4; ++i) CHECK(layout.parts[i].units == request.units[i]);
  }
}

TEST_CASE("A layout that does not fit gives every member its share of what there is") {
  const SharedTableLayout::Request request{
      .keys = 100'000, .home_keys = 50'000, .unit_bytes = 64, .units = {60'000, 20'000, 20'000}};
  const std::size_t min_bytes = SharedTableLayout::min_bytes(request);
  for (const std::size_t slots_bytes :
       {std::size_t{0}, kPage, std::size_t{100'000}, std::size_t{3'200'000}, std::size_t{6'399'999}}) {
    INFO(slots_bytes);
    const SharedTableLayout layout = SharedTableLayout::plan(request, min_bytes + slots_bytes);
    check_order(layout, request);
    CHECK_FALSE(layout.complete);
    CHECK(layout.total_bytes() <= min_bytes + slots_bytes);
    CHECK(layout.parts[1].units == layout.parts[2].units);
    // Three times as much for the first, except for rounding to pages.
    const std::uint64_t rounding = 3 * SharedTableLayout::unit_alignment(request.unit_bytes);
    CHECK(layout.parts[0].units + rounding >= 3 * layout.parts[1].units);
    CHECK(layout.parts[0].units <= 3 * layout.parts[1].units + rounding);
  }
  const SharedTableLayout half = SharedTableLayout::plan(request, min_bytes + 3'200'000);
  CHECK(half.slots_bytes > 3'200'000 / 10 * 9);
  // With alignment, they need slightly more than their sum.
  CHECK(SharedTableLayout::plan(request, min_bytes + 6'500'000).complete);
}

TEST_CASE("Few large values go to shared memory as far as there is room, not in groups") {
  for (const std::size_t unit : {std::size_t{8192}, std::size_t{1} << 20, std::size_t{48}}) {
    const std::uint64_t alignment = SharedTableLayout::unit_alignment(unit);
    CHECK(alignment * unit % kPage == 0);
    CHECK(alignment == (unit == 48 ? 256 : 1));
  }
  const SharedTableLayout::Request request{.keys = 5, .home_keys = 5, .unit_bytes = 8192, .units = {3, 2}};
  const std::size_t min_bytes = SharedTableLayout::min_bytes(request);
  const SharedTableLayout layout = SharedTableLayout::plan(request, min_bytes + 4 * 8192);
  check_order(layout, request);
  CHECK_FALSE(layout.complete);
  CHECK(layout.parts[0].units == 2);
  CHECK(layout.parts[1].units == 1);
  CHECK(SharedTableLayout::plan(request, min_bytes + 5 * 8192).complete);
}

TEST_CASE("Tables whose keys can have copies share a dirty set, others nothing for it") {
  for (const std::size_t unit : {std::size_t{16}, std::size_t{48}, std::size_t{1040}}) {
    SharedTableLayout::Request request{
        .keys = 100'001, .home_keys = 33'334, .unit_bytes = unit, .units = {50'000, 0, 30'000, 20'001}};
    const std::size_t without = SharedTableLayout::min_bytes(request);
    const SharedTableLayout plain = SharedTableLayout::plan(request, kPlenty);
    CHECK(plain.dirty_offset == plain.slots_offset);
    CHECK(plain.slots_offset == without);
    request.replicable = true;
    const SharedTableLayout layout = SharedTableLayout::plan(request, kPlenty);
    check_order(layout, request);
    CHECK(layout.complete);
    CHECK(SharedTableLayout::min_bytes(request) > without);
    CHECK(SharedTableLayout::min_bytes(request) < without + 100'000 / 8 + 3 * kPage);
    check_order(SharedTableLayout::plan(request, SharedTableLayout::min_bytes(request)), request);
    check_order(SharedTableLayout::plan(request, SharedTableLayout::min_bytes(request) + 10'000), request);
  }
}

TEST_CASE("Members mark slots for each other, and take the marks of their own") {
  const SharedTableLayout::Request request{
      .keys = 3000, .home_keys = 2000, .unit_bytes = 48, .replicable = true, .units = {1700, 1300}};
  const SharedTableLayout layout = SharedTableLayout::plan(request, kPlenty);
  LoopbackMemory memory(kPlenty);
  std::byte* const base = memory.piece(0, 0, layout.total_bytes());
  std::vector<SharedTablePart> parts;
  for (std::size_t position = 0; position < 2; ++position) {
    parts.emplace_back(
        base, layout, position, request.home_keys, [] { return kPlenty; }, [] {});
  }
  for (SharedTablePart& part : parts) REQUIRE(part.commit(Domain(0)));
  const SharedTableLayout::Part& first = layout.parts[0];
  const SharedTableLayout::Part& second = layout.parts[1];
  CHECK(parts[0].dirty_set().units() >= second.first_unit + second.units);
  parts[0].dirty_set().mark(second.first_unit + 1299);
  parts[0].dirty_set().mark(second.first_unit);
  parts[1].dirty_set().mark(first.first_unit + 1699);
  const auto take = [&](std::size_t position) {
    std::vector<std::uint64_t> units;
    parts[position].dirty_set().take(layout.parts[position].first_unit, layout.parts[position].units,
                                     [&](std::uint64_t unit) { units.push_back(unit); });
    return units;
  };
  CHECK(take(0) == std::vector{first.first_unit + 1699});
  CHECK(take(1) == std::vector{second.first_unit, second.first_unit + 1299});
  CHECK(take(0).empty());
  // No mark overlaps a slot word, an owner or a slot.
  for (std::uint64_t key = 0; key < request.keys; ++key)
    REQUIRE(parts[0].words(request.keys).load(Key(key)).bits() == 0);
  const OwnershipTable owners(parts[1].owners(), Domain(0));
  for (std::uint64_t i = 0; i < request.home_keys; ++i) REQUIRE(owners.owner(i) == Domain(0));
  CHECK(parts[1].slots().region->base()[0] == std::byte{0});
}

TEST_CASE("A domain has 32 bits for the numbers of its slots") {
  SharedTableLayout::Request request{.keys = 1, .home_keys = 1, .unit_bytes = 16, .units = {1, 1}};
  CHECK(SharedTableLayout::is_possible(request));
  request.units = {std::uint64_t{1} << 31, (std::uint64_t{1} << 31) - 256};
  CHECK(SharedTableLayout::is_possible(request));
  request.units = {std::uint64_t{1} << 31, std::uint64_t{1} << 31};
  CHECK_FALSE(SharedTableLayout::is_possible(request));
  // Impossible only because of the space lost between the parts of members.
  request.units = {(std::uint64_t{1} << 31) + 1, (std::uint64_t{1} << 31) - 256};
  CHECK_FALSE(SharedTableLayout::is_possible(request));
}

TEST_CASE("Members use one memory: slot words, owners at home, slots that do not overlap") {
  const SharedTableLayout::Request request{
      .keys = 3000, .home_keys = 2000, .unit_bytes = 32, .units = {1700, 1300}};
  const SharedTableLayout layout = SharedTableLayout::plan(request, kPlenty);
  LoopbackMemory memory(kPlenty);
  std::byte* const base = memory.piece(0, 0, layout.total_bytes());
  LimitedRegionAllocator regions;
  std::vector<SharedTablePart> parts;
  for (std::size_t position = 0; position < 2; ++position) {
    parts.emplace_back(
        base, layout, position, request.home_keys, [] { return std::size_t{0}; }, [] {});
    REQUIRE(parts.back().commit(Domain(3)));
  }
  for (const SharedTablePart& part : parts) {
    const OwnershipTable owners(part.owners(), Domain(3));
    for (std::uint64_t i = 0; i < request.home_keys; ++i) REQUIRE(owners.owner(i) == Domain(3));
  }
  OwnershipTable(parts[0].owners(), Domain(3)).relocate(1999, Domain(1));
  CHECK(OwnershipTable(parts[1].owners(), Domain(3)).owner(1999) == Domain(1));

  KeyWords first = parts[0].words(request.keys);
  KeyWords second = parts[1].words(request.keys);
  for (std::uint64_t key = 0; key < request.keys; ++key) REQUIRE(first.load(Key(key)).bits() == 0);
  first.find(Key(2999))->store(77);
  CHECK(second.load(Key(2999)).bits() == 77);
  first.find(Key(2999))->store(0);

  std::vector<std::unique_ptr<Store>> stores;
  for (const SharedTablePart& part : parts) {
    stores.push_back(std::make_unique<Store>(part.words(request.keys), part.slots(), part.overflow(regions),
                                             ValueSizes({ElementType::int64, 4}), 0));
  }
  for (std::uint64_t key = 0; key < request.keys; ++key) {
    stores[key < 1700 ? 0 : 1]->create(Key(key), [&](std::byte* to) {
      const std::vector<std::int64_t> value(4, static_cast<std::int64_t>(key));
      std::memcpy(to, value.data(), 32);
    });
  }
  for (std::uint64_t key = 0; key < request.keys; ++key) {
    for (const auto& store : stores) {
      std::vector<std::int64_t> value(4);
      REQUIRE(store->read(Key(key), reinterpret_cast<std::byte*>(value.data())));
      REQUIRE(value == std::vector<std::int64_t>(4, static_cast<std::int64_t>(key)));
    }
  }
  CHECK(regions.committed_bytes() == 0);
}

TEST_CASE("Members with slots that do not fit have unit numbers of their own for private slots") {
  const SharedTableLayout::Request request{
      .keys = 3000, .home_keys = 3000, .unit_bytes = 32, .units = {1700, 1300}};
  const SharedTableLayout layout =
      SharedTableLayout::plan(request, SharedTableLayout::min_bytes(request) + 1024 * 32);
  LoopbackMemory memory(kPlenty);
  std::byte* const base = memory.piece(0, 0, layout.total_bytes());
  LimitedRegionAllocator regions;
  int notices = 0;
  std::vector<std::unique_ptr<Store>> stores;
  for (std::size_t position = 0; position < 2; ++position) {
    SharedTablePart part(
        base, layout, position, request.home_keys, [] { return std::size_t{0}; }, [&] { ++notices; });
    REQUIRE(part.commit(Domain(0)));
    stores.push_back(std::make_unique<Store>(part.words(request.keys), part.slots(), part.overflow(regions),
                                             ValueSizes({ElementType::int64, 4}), request.units[position]));
  }
  const auto rank_of = [](std::uint64_t key) { return std::size_t{key < 1700 ? 0U : 1U}; };
  std::uint64_t shared = 0;
  for (std::uint64_t key = 0; key < request.keys; ++key) {
    Store& store = *stores[rank_of(key)];
    store.create(Key(key), [&](std::byte* to) { std::memset(to, static_cast<int>(key % 251), 32); });
    if (!store.is_private(Key(key))) ++shared;
  }
  CHECK(notices == 1);  // one notice per domain
  CHECK(shared == layout.parts[0].units + layout.parts[1].units);
  CHECK(shared > 0);
  for (std::uint64_t key = 0; key < request.keys; ++key) {
    std::vector<std::byte> value(32);
    const bool is_private = stores[0]->is_private(Key(key));
    REQUIRE(stores[rank_of(key)]->read(Key(key), value.data()));
    REQUIRE(value == std::vector<std::byte>(32, static_cast<std::byte>(key % 251)));
    REQUIRE(static_cast<bool>(stores[1 - rank_of(key)]->read(Key(key), value.data())) == !is_private);
  }
}
