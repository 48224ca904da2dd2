// Intents and replicas, with memory refused at any one of their allocations.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/transport.hpp"
#include "test/mpi/refused_memory.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::allocations_left;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::GrantedTransport;
using lapse::test::key_range;
using lapse::test::ReplicatingRanks;

namespace {

constexpr std::uint64_t kKeys = 3000;
using Values = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("An intent for which memory is refused signals nothing, and the next one everything") {
  MpiTransport transport(MPI_COMM_WORLD);
  adapm::ParameterManager manager(std::make_unique<GrantedTransport>(transport),
                                  adapm::Options::from_environment());
  const auto table = manager.create_table<std::int64_t>({.name = "many", .keys = kKeys});
  manager.run_workers(1, [&](adapm::IntentWorker& worker) {
    const std::vector<Key> keys = key_range(0, kKeys);
    std::size_t refused = 0;
    for (bool was_refused = true; was_refused;) {
      allocations_left = refused + 1;
      try {
        worker.intent(table, keys, Clock(1'000'000), Clock(2'000'000));
      } catch (const OutOfMemory& error) {
        expect(contains(error.what(), "3000 keys of table 'many'"), error.what());
        ++refused;
      }
      was_refused = std::exchange(allocations_left, 0) == 0;
    }
    expect(refused > 0, "memory is asked for");
    worker.advance_clock();
    std::vector<std::int64_t> values(kKeys);
    worker.push(table, keys, Values(kKeys, 1));
    worker.sync_barrier();
    worker.pull(table, keys, values).wait();
    expect(values == Values(kKeys, worker.ranks()), "the pushes of all");
  });
  const auto total = manager.statistics().intents.total();
  CHECK(total.intents == static_cast<std::uint64_t>(manager.ranks()));
  manager.close();
}

namespace {

// Three ranks want these keys, one after the other; the owner, rank 0, first. An allocation is refused to the
// last rank at its announcement, or to the owner when the announcement arrives. Returns the outcome for the
// last rank's keys: replicas, and keys that it or the owner has declined. Returns nullopt if the allocation
// belongs to something that cannot be declined. `was_refused`: whether an allocation was refused.
struct Outcome {
  std::size_t copies = 0;
  std::uint64_t declined = 0;
  std::uint64_t refused = 0;
};
std::optional<Outcome> announce(std::size_t allocation, bool at_owner, bool& was_refused) {
  const std::vector<Key> keys{Key(1), Key(2), Key(3)};
  ReplicatingRanks ranks(4, 5, 40);
  for (const std::size_t rank : {0, 1, 2}) {
    ranks.want(rank, keys);
    ranks.round(rank);
    ranks.deliver_all();
  }
  ranks.want(3, keys);
  try {
    if (!at_owner) allocations_left = allocation;
    ranks.round(3);
    was_refused = !at_owner && std::exchange(allocations_left, 0) == 0;
    if (at_owner) allocations_left = allocation;
    ranks.deliver_all();
    was_refused = was_refused || (at_owner && std::exchange(allocations_left, 0) == 0);
  } catch (const std::bad_alloc&) {
    was_refused = true;
    return std::nullopt;
  }
  Outcome outcome;
  for (const Key key : keys) outcome.copies += ranks.role(3, key) == Role::replica ? 1 : 0;
  progress_role.assert_held();
  outcome.declined = ranks.table(3).counters().declined_copies;
  outcome.refused = ranks.table(3).counters().refused_copies;
  // The replicas that exist are merged and refreshed as usual.
  for (const Key key : keys) {
    const bool is_copy = ranks.push(3, key, 1);
    CHECK(is_copy == (ranks.role(3, key) == Role::replica));
    for (const std::size_t rank : {3, 0}) {
      ranks.round(rank);
      ranks.deliver_all();
    }
    CHECK(ranks.value(0, key) == (is_copy ? 1 : 0));
    CHECK(ranks.value(1, key) == (is_copy ? 1 : 0));
  }
  return outcome;
}

}  // namespace

TEST_CASE("A copy for whose record there is no memory is declined, and counted") {
  const bool at_owner = GENERATE(false, true);
  INFO("at the owner " << at_owner);
  std::uint64_t declined = 0;
  bool was_refused = true;
  for (std::size_t allocation = 1; was_refused; ++allocation) {
    was_refused = false;
    const std::optional<Outcome> outcome = announce(allocation, at_owner, was_refused);
    if (!outcome) continue;
    CHECK(outcome->copies + outcome->declined + outcome->refused == 3);
    declined += at_owner ? outcome->refused : outcome->declined;
  }
  CHECK(declined > 0);
}
