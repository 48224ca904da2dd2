// Local keys of a call, some of which wait for earlier operations or for a latch.
#include "lapse/ps/access/local_access.hpp"

#include <numeric>
#include <vector>

#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/access/operation_builder.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;

namespace {

using Values = std::vector<std::int64_t>;

// Receives no submission.
class NoSubmissions final : public SubmissionHandler {
 public:
  void handle_submission(Submission&) override {}
};

Row row_of(Key key) {
  Row row;
  row.key = key;
  return row;
}

// A worker of rank 0, where keys 0 to 9 of 20 are local.
class LocalWorker {
 public:
  LocalWorker() { endpoint.count_tables(1); }

  // The keys of the call that were not carried out.
  std::vector<Key> rest(const std::vector<Key>& keys, const AccessRequest& request) {
    LocalAccess access(table(), keys, request, endpoint, {done, on_copies}, Rank(0), 0);
    std::vector<Key> left;
    access.carry_out_rest([&](const Row& row, const Store::Word*) { left.push_back(row.key); });
    return left;
  }
  AccessRequest pull(Values& values) {
    return {.operation = {.kind = OperationKind::pull},
            .destination = reinterpret_cast<std::byte*>(values.data())};
  }
  AccessRequest push(const Values& updates) {
    return {.operation = {.kind = OperationKind::push},
            .updates = reinterpret_cast<const std::byte*>(updates.data())};
  }
  // An operation that stays unanswered.
  OperationState& call(const std::vector<Key>& keys) {
    OperationState& operation =
        builder_.emplace_back(endpoint, table(), request_, handler_, keys.size()).state();
    for (const Key key : keys) builder_.back().add(row_of(key));
    builder_.back().finish();
    return operation;
  }
  void answer(OperationState& operation) {
    for (OperationState::Item& item : operation.items) item.set_state(OperationState::ItemState::answered);
    endpoint.answered(operation, static_cast<std::uint32_t>(operation.items.size()));
  }
  std::int64_t value(Key key) {
    std::int64_t value = -1;
    REQUIRE(table().store().read(key, reinterpret_cast<std::byte*>(&value)));
    return value;
  }
  TableShard& table() { return *table_; }

  WorkerEndpoint endpoint{0};
  std::uint64_t done = 0;
  std::uint64_t on_copies = 0;

 private:
  PrivateRegionAllocator regions_;
  DomainMap domains_ = DomainMap::of_ranks(2);
  std::unique_ptr<TableShard> table_ =
      test::build_table_shard({}, domains_, Rank(0), HomeMap::range(20, 2, Domain(0)), false, 20,
                              ValueSizes(ValueLayout{ElementType::int64, 1, 0}), regions_);
  AccessRequest request_{.operation = {.kind = OperationKind::pull}};
  NoSubmissions handler_;
  std::vector<OperationBuilder> builder_;
};

std::vector<Key> keys_of(const std::vector<std::uint64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TEST_CASE("While operations are unanswered, local keys are carried out except those that they name") {
  LocalWorker worker;
  OperationState& first = worker.call(keys_of({3, 15}));
  OperationState& second = worker.call(keys_of({5, 3}));
  Values updates(6);
  std::iota(updates.begin(), updates.end(), 1);
  const std::vector<Key> keys = keys_of({1, 3, 4, 5, 1, 12});
  CHECK(worker.rest(keys, worker.push(updates)) == keys_of({3, 5, 12}));
  CHECK(worker.done == 3);
  CHECK(worker.value(Key(1)) == 1 + 5);
  CHECK(worker.value(Key(4)) == 3);
  for (const std::uint64_t key : {3, 5}) CHECK(worker.value(Key(key)) == 0);
  // If no key meets an operation, nothing is left for the engine.
  Values values(3);
  CHECK(worker.rest(keys_of({4, 1, 0}), worker.pull(values)).empty());
  CHECK(values == Values{3, 6, 0});
  // A key waits for all operations that name it, and for no others.
  worker.answer(first);
  CHECK(worker.rest(keys_of({3, 5}), worker.push(updates)) == keys_of({3, 5}));
  worker.answer(second);
  CHECK(worker.rest(keys_of({3, 5}), worker.push(updates)).empty());
  CHECK(worker.value(Key(3)) == 1);
}

TEST_CASE("The leading keys of a call end before the first that meets an unanswered operation") {
  LocalWorker worker;
  worker.call(keys_of({3}));
  Values values(5, -1);
  const std::vector<Key> keys = keys_of({0, 1, 3, 4, 11});
  const AccessRequest request = worker.pull(values);
  LocalAccess access(worker.table(), keys, request, worker.endpoint, {worker.done, worker.on_copies}, Rank(0),
                     0);
  access.carry_out_leading();
  CHECK_FALSE(access.at_end());
  CHECK(access.next_key() == Key(3));
  CHECK(values == Values{0, 0, -1, -1, -1});
}

TEST_CASE("A key whose latch another thread holds ends the run, unless it is to be waited for") {
  LocalWorker worker;
  const bool pull = GENERATE(false, true);
  Values values{1, 2, 3, 4};
  const std::vector<Key> keys = keys_of({0, 1, 12, 2});
  const AccessRequest request = pull ? worker.pull(values) : worker.push(values);
  LocalAccess access(worker.table(), keys, request, worker.endpoint, {worker.done, worker.on_copies}, Rank(0),
                     0);
  access.wait_for_latches(false);
  std::vector<Key> left;
  const auto note = [&](const Row& row, const Store::Word*) { left.push_back(row.key); };
  // First the latch of the second key, then that of the last.
  REQUIRE(worker.table().store().update(Key(1), [&](std::byte*) { access.carry_out_next(10, note); }));
  CHECK(access.meets_latch());
  CHECK(access.next_key() == Key(1));
  CHECK(left.empty());
  CHECK(worker.done == 1);
  REQUIRE(worker.table().store().update(Key(2), [&](std::byte*) { access.carry_out_next(10, note); }));
  CHECK(access.meets_latch());
  CHECK(access.next_key() == Key(2));
  CHECK(left == keys_of({12}));
  access.carry_out_next(10, note);
  CHECK_FALSE(access.meets_latch());
  CHECK(access.at_end());
  CHECK(left == keys_of({12}));
  CHECK(worker.done == 3);
  if (pull) {
    CHECK(values == Values{0, 0, 3, 0});
  } else {
    for (const auto& [key, value] : {std::pair(0, 1), {1, 2}, {2, 4}})
      CHECK(worker.value(Key(static_cast<std::uint64_t>(key))) == value);
  }
}

TEST_CASE("Keys that are tried together end before one whose latch another thread holds") {
  LocalWorker worker;
  Values values(6, 1);
  const std::vector<Key> keys = keys_of({0, 13, 1, 14, 2, 3});
  const AccessRequest request = worker.push(values);
  LocalAccess access(worker.table(), keys, request, worker.endpoint, {worker.done, worker.on_copies}, Rank(0),
                     0);
  access.wait_for_latches(false);
  access.expect_no_arrivals(false);
  LocalAccess::NotLocal left;
  REQUIRE(worker.table().store().update(Key(2),
                                        [&](std::byte*) { CHECK(access.carry_out_together(left) == 4); }));
  CHECK(left.count == 2);
  CHECK(access.next_key() == Key(2));
  CHECK(access.expects_arrivals());
  CHECK(worker.done == 2);
  CHECK(worker.value(Key(3)) == 0);
}

TEST_CASE("An operation takes room as it is needed, not for all keys of its call") {
  LocalWorker worker;
  const AccessRequest request{.operation = {.kind = OperationKind::pull}};
  NoSubmissions handler;
  constexpr std::size_t kKeys = 1'000'000;
  for (int number = 0; number < 2; ++number) {
    OperationBuilder many(worker.endpoint, worker.table(), request, handler, kKeys);
    many.add(row_of(Key(12)));
    CHECK(many.state().items.capacity() < 1000);
    many.finish();
  }
  OperationBuilder few(worker.endpoint, worker.table(), request, handler, 3);
  few.add(row_of(Key(13)));
  CHECK(few.state().items.capacity() == 3);
}
