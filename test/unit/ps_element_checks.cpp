#include "lapse/ps/access/element_checks.hpp"

#include <limits>
#include <string>
#include <vector>

#include "lapse/core/index_out_of_range.hpp"
#include "lapse/core/not_finite_update.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

// A table of 10 keys with values of 4 floats, or of 1 to 4.
class CheckedTable {
 public:
  explicit CheckedTable(bool own_lengths = false, const UpdateRule& rule = UpdateRule::add()) {
    const ValueLayout layout{ElementType::float32, 4, rule.state_size()};
    table_ = test::build_table_shard(
        {.rule = rule}, domains_, Rank(0), HomeMap::range(10, 1, Domain(0)), false, 10,
        own_lengths ? ValueSizes::listed(layout, 10, [](Key key) { return 1 + key.value() % 4; })
                    : ValueSizes(layout),
        regions_);
  }
  ElementChecks checks() const { return {*table_, Rank(0)}; }

 private:
  PrivateRegionAllocator regions_;
  DomainMap domains_ = DomainMap::of_ranks(1);
  std::unique_ptr<TableShard> table_;
};

}  // namespace

TEST_CASE("Every pair needs one key, one index and one element") {
  const CheckedTable table;
  const std::vector<Key> keys{Key(1), Key(2)};
  const std::vector<std::uint32_t> indices{0, 1};
  CHECK_NOTHROW(table.checks().keys(2, 2));
  CHECK_THROWS_AS(table.checks().keys(1, 2), LengthMismatch);
  CHECK_NOTHROW(table.checks().pairs({keys, indices}, "values", 2));
  CHECK_THROWS_AS(table.checks().pairs({keys, indices}, "values", 1), LengthMismatch);
  CHECK_NOTHROW(table.checks().pairs({std::span(keys).first(1), {}}, "values", 0));
}

TEST_CASE("An index that the key's value does not have is refused, by name") {
  const CheckedTable table;
  const std::vector<Key> keys{Key(1), Key(2), Key(3)};
  std::vector<std::uint32_t> indices{0, 3, 4};
  try {
    table.checks().pairs({keys, indices}, "values", 3);
    FAIL("no exception");
  } catch (const IndexOutOfRange& error) {
    CHECK(error.key() == Key(3));
    CHECK(error.index() == 4);
    CHECK(error.length() == 4);
    CHECK(error.where() == Rank(0));
    const std::string text = error.what();
    CHECK(contains(text, "index 4 of key 3 of table"));
    CHECK(contains(text, "4 elements"));
  }
  indices[2] = std::numeric_limits<std::uint32_t>::max();
  CHECK_THROWS_AS(table.checks().pairs({keys, indices}, "values", 3), IndexOutOfRange);
  CHECK_THROWS_AS(table.checks().pairs({std::span(keys).first(1), indices}, "values", 3), IndexOutOfRange);

  const CheckedTable lengths(true);
  const std::vector<std::uint32_t> fits{1, 2, 3};
  CHECK_NOTHROW(lengths.checks().pairs({keys, fits}, "values", 3));
  const std::vector<std::uint32_t> first_does_not{2, 2, 3};
  CHECK_THROWS_AS(lengths.checks().pairs({keys, first_does_not}, "values", 3), IndexOutOfRange);
}

TEST_CASE("A rule that needs whole values is refused, by name") {
  const std::vector<Key> keys{Key(1)};
  const std::vector<std::uint32_t> indices{0};
  const std::vector<float> updates{1};
  const auto* const bytes = reinterpret_cast<const std::byte*>(updates.data());
  TableCounters counters;
  for (const UpdateRule& rule : {UpdateRule::assign(), UpdateRule::adam(), UpdateRule::rowwise_adagrad()}) {
    const CheckedTable table(false, rule);
    const std::string text = thrown_text<UsageError>([&] {
      table.checks().updates({keys, indices}, bytes, counters);
    });
    CHECK(contains(text, rule.name()));
    CHECK(contains(text, "add, sgd, adagrad and ftrl"));
  }
  CHECK_NOTHROW(CheckedTable(false, UpdateRule::ftrl()).checks().updates({keys, indices}, bytes, counters));
}
