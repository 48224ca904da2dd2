#include "lapse/directory/ownership_table.hpp"

#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::OwnershipTable;

TEST_CASE("At the start every key belongs to its home") {
  const OwnershipTable table(5, Domain(2));
  for (std::uint64_t index = 0; index < 5; ++index) CHECK(table.owner(index) == Domain(2));
  CHECK(table.bytes() >= 5 * sizeof(OwnershipTable::Entry));
}

TEST_CASE("The entries of a table of known size lie together and show each relocation") {
  OwnershipTable table(3, Domain(1));
  const auto entries = table.entries();
  REQUIRE(entries.size() == 3);
  table.relocate(2, Domain(5));
  CHECK(entries[2].owner == Domain(5));
  CHECK(entries[2].relocations == 1);
  CHECK(entries[0].owner == Domain(1));
  CHECK(OwnershipTable(0, Domain(1)).entries().empty());
}

TEST_CASE("A relocation names the old owner and counts, key by key") {
  OwnershipTable table(3, Domain(0));
  const auto first = table.relocate(1, Domain(4));
  CHECK(first.old_owner == Domain(0));
  CHECK(first.relocations == 1);
  const auto second = table.relocate(1, Domain(2));
  CHECK(second.old_owner == Domain(4));
  CHECK(second.relocations == 2);
  CHECK(table.owner(1) == Domain(2));
  CHECK(table.owner(0) == Domain(0));
  CHECK(table.relocate(2, Domain(1)).relocations == 1);
}
