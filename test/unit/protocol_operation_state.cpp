#include "lapse/protocol/worker/operation_state.hpp"

#include <cstring>
#include <vector>

#include "lapse/protocol/table/table_shard.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;

namespace {

// Dense keys whose values have `key + 1` elements of 4 bytes.
class OwnLengths {
 public:
  TableShard& table() { return *table_; }

 private:
  PrivateRegionAllocator regions_;
  std::unique_ptr<TableShard> table_ = test::build_table_shard(
      {.max_units = 100}, DomainMap::of_ranks(1), Rank(0), HomeMap::range(10, 1, Domain(0)), false, 10,
      ValueSizes::computed(ValueLayout{ElementType::int32, 10, {}}, [](Key key) { return key.value() + 1; }),
      regions_);
};

std::vector<std::int32_t> row(const OperationState& operation, std::size_t item) {
  std::vector<std::int32_t> row(operation.items[item].key.value() + 1);
  std::memcpy(row.data(), operation.update(operation.items[item]), row.size() * 4);
  return row;
}

}  // namespace

TEST_CASE("Messages name an item by its position in the order of routes, or by its index") {
  OperationState operation;
  for (std::uint64_t key = 0; key < 5; ++key) operation.items.emplace_back(Key(key), 0, 0);
  constexpr std::uint32_t kIndexBit = OperationState::kIndexBit;
  SECTION("without an order, positions are indices") {
    for (std::uint32_t i = 0; i < 5; ++i) {
      CHECK(operation.item_with(i) == &operation.items[i]);
      CHECK(operation.item_with(i | kIndexBit) == &operation.items[i]);
    }
    for (const std::uint32_t name : {5U, 5U | kIndexBit, kIndexBit - 1, 0xffff'ffffU})
      CHECK(operation.item_with(name) == nullptr);
  }
  SECTION("an order may leave items out, which have an index all the same") {
    operation.order = {3, 0, 4};
    operation.reordered = true;
    CHECK(operation.item_with(0) == &operation.items[3]);
    CHECK(operation.item_with(1) == operation.items.data());
    CHECK(operation.item_with(2) == &operation.items[4]);
    CHECK(operation.item_with(2 | kIndexBit) == &operation.items[2]);
    CHECK(operation.item_with(4 | kIndexBit) == &operation.items[4]);
    for (const std::uint32_t name : {3U, 4U, 5U, 5U | kIndexBit, kIndexBit - 1, 0xffff'ffffU})
      CHECK(operation.item_with(name) == nullptr);
  }
}

TEST_CASE("Updates that are kept do not change with the rows of the call") {
  OwnLengths table;
  OperationState operation;
  operation.kind = OperationKind::push;
  operation.table = &table.table();
  operation.payload_unit = 4;
  std::vector<std::int32_t> rows;
  std::vector<std::vector<std::int32_t>> expected;
  for (const std::uint64_t key : {2, 0, 3, 0, 1}) {
    const auto offset = static_cast<std::uint32_t>(rows.size());
    operation.items.emplace_back(Key(key), offset, offset);
    for (std::uint64_t i = 0; i <= key; ++i) rows.push_back(static_cast<std::int32_t>(100 + rows.size()));
    expected.emplace_back(rows.begin() + offset, rows.end());
  }
  operation.updates = reinterpret_cast<const std::byte*>(rows.data());
  operation.update_bytes = rows.size() * 4;
  for (std::size_t item = 0; item < 5; ++item) CHECK(row(operation, item) == expected[item]);
  SECTION("some of them, in any order") {
    for (const std::size_t item : {4, 1, 2}) operation.keep_update(operation.items[item]);
    const auto* const first = operation.update(operation.items[4]);
    operation.keep_update(operation.items[4]);
    CHECK(operation.update(operation.items[4]) == first);  // only once
    rows.assign(rows.size(), -1);
    for (const std::size_t item : {1, 2, 4}) CHECK(row(operation, item) == expected[item]);
    for (const std::size_t item : {0, 3}) CHECK(row(operation, item)[0] == -1);
  }
  SECTION("all of them, after one") {
    operation.keep_update(operation.items[3]);
    operation.keep_updates();
    rows.assign(rows.size(), -1);
    for (std::size_t item = 0; item < 5; ++item) CHECK(row(operation, item) == expected[item]);
    CHECK(operation.payload.size() == operation.update_bytes);
  }
}

TEST_CASE("An operation without updates keeps nothing") {
  OperationState operation;
  operation.items.emplace_back(Key(0), 0, 0);
  operation.keep_updates();
  CHECK(operation.payload.empty());
  CHECK(operation.update(operation.items[0]) == nullptr);
}
