#include "lapse/protocol/worker/routes_in_flight.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

using Entry = std::optional<Domain>;

Route route_to(const Entry& entry) {
  return entry ? Route::send_to_entry(*entry) : Route::send_to_home(Domain(0));
}

// A worker of rank 1, whose keys 0 to 3 and 8 to 11 are absent.
class RoutingWorker {
 public:
  RoutingWorker() { progress_role.assert_held(); }

  WorkerEndpoint& worker() { return ranks_.worker(1); }
  TableShard& table() { return ranks_.table(1); }
  RoutesInFlight& routes() LAPSE_REQUIRES(progress_role) { return worker().routes(); }

  OperationState& call(const std::vector<std::uint64_t>& keys, bool holdable = false) {
    OperationState& operation = worker().acquire();
    operation.kind = OperationKind::push;
    operation.table = &table();
    operation.holdable = holdable;
    worker().unanswered().begin(operation, table().id());
    worker().unanswered().add(static_cast<std::uint32_t>(keys.size()));
    for (const std::uint64_t key : keys) operation.items.emplace_back(Key(key), 0, 0);
    operation.remaining = static_cast<std::uint32_t>(keys.size());
    worker().opened(operation);
    return operation;
  }
  void begin(OperationState& operation) LAPSE_REQUIRES(progress_role) {
    routes().begin(operation, operation.items.size());
  }
  // Sends an item where an earlier one entered, else to `wanted`.
  Entry send(OperationState& operation, std::size_t index, const Entry& wanted)
      LAPSE_REQUIRES(progress_role) {
    OperationState::Item& item = operation.items[index];
    Entry entry = wanted;
    if (!routes().is_alone() && !routes().follow(item.key, route_to(wanted))) {
      Pin alone;
      Pin& pin = routes().pin(operation, item, alone);
      if (pin.unanswered > 0) entry = pin.entry;
      if (item.pinned != nullptr) {
        REQUIRE(&pin == &item.pinned->pin);
        ++pin.unanswered;
        if (entry) pin.entry = entry;
      } else {
        REQUIRE(&pin == &alone);
        routes().note(item.key, route_to(entry));
      }
    }
    item.sent_to = entry.value_or(Domain(0));
    item.by_entry = entry.has_value();
    item.set_state(OperationState::ItemState::in_flight);
    return entry;
  }
  void answer(OperationState& operation, std::size_t index) LAPSE_REQUIRES(progress_role) {
    OperationState::Item& item = operation.items[index];
    item.set_state(OperationState::ItemState::answered);
    if (item.pinned != nullptr) {
      REQUIRE(item.pinned->key == item.key);
      REQUIRE(item.pinned->pin.unanswered > 0);
      --item.pinned->pin.unanswered;
      routes().release(*item.pinned);
    }
    worker().answered(operation, 1);
  }

 private:
  WaitingRanks ranks_;
};

const Entry kHome;
const Entry kTwo = Domain(2);
const Entry kZero = Domain(0);

}  // namespace

TEST_CASE("Operations on a key that enter at one place need no pin, however many are in flight") {
  progress_role.assert_held();
  RoutingWorker worker;
  OperationState& first = worker.call({1, 2});
  worker.begin(first);
  CHECK(worker.routes().is_alone());
  CHECK(worker.send(first, 0, kTwo) == kTwo);
  CHECK(worker.send(first, 1, kHome) == kHome);
  for (int i = 0; i < 3; ++i) {
    OperationState& next = worker.call({1, 2, 3, 1});
    worker.begin(next);
    CHECK_FALSE(worker.routes().is_alone());
    CHECK(worker.send(next, 0, kTwo) == kTwo);
    CHECK(worker.send(next, 1, kHome) == kHome);
    CHECK(worker.send(next, 2, kZero) == kZero);
    CHECK(worker.send(next, 3, kTwo) == kTwo);
    for (const OperationState::Item& item : next.items) CHECK(item.pinned == nullptr);
  }
}

TEST_CASE("While an operation is in flight, the next one enters where it has, and the key is pinned") {
  progress_role.assert_held();
  RoutingWorker worker;
  OperationState& first = worker.call({1, 1});
  worker.begin(first);
  for (const std::size_t item : {0, 1}) worker.send(first, item, kTwo);
  OperationState& second = worker.call({1});
  worker.begin(second);
  CHECK(worker.send(second, 0, kZero) == kTwo);
  const PinnedKey* const pinned = second.items[0].pinned;
  REQUIRE(pinned != nullptr);
  CHECK(first.items[0].pinned == pinned);
  CHECK(first.items[1].pinned == pinned);
  CHECK(pinned->pin.unanswered == 3);
  // Even one that would have entered there.
  OperationState& third = worker.call({1});
  worker.begin(third);
  CHECK(worker.send(third, 0, kTwo) == kTwo);
  CHECK(third.items[0].pinned == pinned);
  for (const std::size_t item : {0, 1}) worker.answer(first, item);
  worker.answer(third, 0);
  CHECK(pinned->pin.unanswered == 1);
  worker.answer(second, 0);
  OperationState& last = worker.call({1});
  worker.begin(last);
  CHECK(worker.send(last, 0, kZero) == kZero);
  CHECK(last.items[0].pinned == nullptr);
}

TEST_CASE("A key is free once its operations are answered, though an older operation is in flight") {
  progress_role.assert_held();
  RoutingWorker worker;
  OperationState& stays = worker.call({9});
  worker.begin(stays);
  worker.send(stays, 0, kHome);
  Entry last = kTwo;
  for (int i = 0; i < 100; ++i) {
    OperationState& operation = worker.call({1, 1});
    worker.begin(operation);
    const Entry wanted = i % 3 == 0 ? kTwo : i % 3 == 1 ? kZero : kHome;
    CHECK(worker.send(operation, 0, wanted) == wanted);
    CHECK(worker.send(operation, 1, last) == wanted);
    worker.answer(operation, 0);
    worker.answer(operation, 1);
    worker.worker().release(operation);
    last = wanted;
  }
}

TEST_CASE("An answer that shows a shorter route makes the next operation wait for the others") {
  progress_role.assert_held();
  RoutingWorker worker;
  OperationState& first = worker.call({1});
  worker.begin(first);
  worker.send(first, 0, kTwo);
  SECTION("the rank that answered is cached") {
    worker.table().remember_location(Key(1), Domain(0));
    worker.table().remember_location(Key(1), Domain(1));
  }
  OperationState& second = worker.call({1});
  worker.begin(second);
  CHECK_FALSE(worker.routes().follow(Key(1), route_to(kZero)));
  Pin alone;
  const Pin& pin = worker.routes().pin(second, second.items[0], alone);
  CHECK(pin.unanswered == 1);
  CHECK(pin.entry == kTwo);
  const std::optional<Domain> hint = worker.table().view(Key(1)).hint;
  CHECK(pin.redirected == (hint && *hint != Domain(2)));
}

TEST_CASE("After an operation has parted ways, its keys keep the routes of those before") {
  progress_role.assert_held();
  RoutingWorker worker;
  OperationState& operation = worker.call({1, 2, 1, 2, 3});
  worker.begin(operation);
  worker.send(operation, 0, kTwo);
  worker.send(operation, 1, kTwo);
  worker.answer(operation, 1);
  const bool parts = GENERATE(true, false);
  if (parts) worker.routes().part_ways();
  worker.begin(operation);
  CHECK(worker.routes().is_alone() == !parts);
  CHECK(worker.send(operation, 2, kZero) == (parts ? kTwo : kZero));
  CHECK(worker.send(operation, 3, kZero) == kZero);
  CHECK(worker.send(operation, 4, kZero) == kZero);
}

TEST_CASE("A held item pins its key for all operations after it") {
  progress_role.assert_held();
  RoutingWorker worker;
  OperationState& first = worker.call({1}, true);
  worker.begin(first);
  CHECK_FALSE(worker.routes().is_alone());
  PinnedKey& pinned = worker.routes().keep(first, first.items[0]);
  CHECK(pinned.key == Key(1));
  pinned.held.push_back({&first, 0});
  pinned.pin.holds = true;
  OperationState& second = worker.call({2, 1});
  worker.begin(second);
  CHECK(worker.routes().follow(Key(2), route_to(kTwo)));
  CHECK_FALSE(worker.routes().follow(Key(1), route_to(kTwo)));
  Pin alone;
  CHECK(worker.routes().pin(second, second.items[1], alone).holds);
  CHECK(second.items[1].pinned == &pinned);
  worker.routes().release(pinned);
  CHECK(pinned.pin.holds);
  pinned.held.clear();
  worker.routes().release(pinned);
  OperationState& third = worker.call({1});
  worker.begin(third);
  CHECK(worker.routes().follow(Key(1), route_to(kZero)));
}

TEST_CASE("In any order of routes and answers, all operations in flight on a key have entered at one place") {
  progress_role.assert_held();
  constexpr std::uint64_t kKeys[] = {0, 1, 2, 3, 8, 9, 10, 11};
  RoutingWorker worker;
  RandomEngine random(17);
  std::vector<std::pair<OperationState*, std::size_t>> in_flight;
  std::map<std::uint64_t, std::pair<Entry, int>> expected;  // by key: entry, and operations in flight
  std::map<std::uint64_t, Entry> wanted;
  std::uint64_t pinned = 0;
  std::uint64_t changed = 0;
  for (int step = 0; step < 50'000; ++step) {
    if (random.below(8) == 0) {
      wanted[kKeys[random.below(8)]] =
          random.below(3) == 0 ? kHome : Entry(Domain(random.below(2) == 0 ? 0 : 2));
    }
    const bool grows = step / 500 % 2 == 0;
    if (random.below(10) < (grows ? 6U : 3U)) {
      std::vector<std::uint64_t> keys(1 + random.below(6));
      for (std::uint64_t& key : keys) key = kKeys[random.below(8)];
      OperationState& operation = worker.call(keys, random.below(9) == 0);
      worker.begin(operation);
      for (std::size_t item = 0; item < keys.size(); ++item) {
        auto& [entry, count] = expected[keys[item]];
        const Entry sent = worker.send(operation, item, wanted[keys[item]]);
        REQUIRE(sent == (count == 0 ? wanted[keys[item]] : entry));
        pinned += operation.items[item].pinned != nullptr ? 1 : 0;
        changed += count > 0 && entry != wanted[keys[item]] ? 1 : 0;
        entry = sent;
        ++count;
        in_flight.emplace_back(&operation, item);
      }
    } else if (!in_flight.empty()) {
      // Mostly the oldest ones.
      const std::size_t at = random.below(random.below(4) == 0 ? in_flight.size() : 1);
      const auto [operation, item] = in_flight[at];
      in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(at));
      --expected[operation->items[item].key.value()].second;
      worker.answer(*operation, item);
      if (operation->done()) worker.worker().release(*operation);
    }
  }
  CHECK(pinned > 1000);
  CHECK(changed > 1000);
}
