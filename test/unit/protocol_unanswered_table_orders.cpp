// The table of unanswered keys with random orders of calls and answers, and between two threads.
#include <atomic>
#include <deque>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/transport/engine/submission_queue.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_operations.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::TableId;
using lapse::test::WorkerOperations;

TEST_CASE("The table is exact in any order of operations, takes and answers") {
  WorkerOperations worker;
  lapse::RandomEngine random(3);
  struct Open {
    OperationState* operation;
    std::size_t item;
  };
  std::vector<Open> in_flight;
  std::deque<OperationState*> called;
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> expected;
  std::uint32_t total = 0;
  const auto key_of = [](const OperationState& operation, const OperationState::Item& item) {
    return std::pair(static_cast<std::uint32_t>(operation.scale), item.key.value());
  };
  for (int step = 0; step < 40'000; ++step) {
    // Long phases of growing and of shrinking, with many and with few keys.
    const std::uint64_t keys = step % 8000 < 4000 ? 2000 : 12;
    const bool grow = random.below(10) < ((step / 1000) % 2 == 0 ? 5U : 1U);
    const std::uint64_t what = random.below(3);
    if (grow && what == 0) {
      const auto table = static_cast<std::uint32_t>(random.below(2));
      const std::size_t items = random.below(3) == 0 ? 1 + random.below(60) : 1;
      OperationState& operation = worker.begin(TableId(table));
      operation.scale = static_cast<float>(table);
      called.push_back(&operation);
      for (std::size_t i = 0; i < items; ++i) {
        const Key key(random.below(keys));
        if (random.below(4) == 0)
          REQUIRE(worker.contains(key, TableId(table)) == (expected[{table, key.value()}] > 0));
        worker.add(operation, key);
        ++expected[{table, key.value()}];
      }
      worker.finish(operation);
      total += static_cast<std::uint32_t>(items);
    } else if (!called.empty() && what == 1) {
      OperationState& operation = *called.front();
      called.pop_front();
      worker.take(operation);
      for (std::size_t item = 0; item < operation.items.size(); ++item)
        in_flight.push_back({&operation, item});
    } else if (!in_flight.empty()) {
      std::swap(in_flight[random.below(in_flight.size())], in_flight.back());
      const auto [operation, item] = in_flight.back();
      in_flight.pop_back();
      --expected[key_of(*operation, operation->items[item])];
      worker.answer(*operation, item);
      --total;
      if (operation->done()) worker.release(*operation);
    }
    REQUIRE(worker.total() == total);
    const std::uint64_t probe = random.below(keys);
    for (std::uint32_t table = 0; table < 2; ++table)
      REQUIRE(worker.contains(Key(probe), TableId(table)) == (expected[{table, probe}] > 0));
  }
}

TEST_CASE("A worker and an engine thread agree: what was called is contained until it is answered") {
  constexpr std::uint64_t kCalls = 10'000;
  WorkerOperations worker;
  lapse::SubmissionQueue queue;

  std::thread engine([&] {
    lapse::RandomEngine random(4);
    std::vector<std::pair<OperationState*, std::size_t>> in_flight;
    for (std::uint64_t taken = 0; taken < kCalls || !in_flight.empty();) {
      lapse::Submission* next = queue.take_all();
      if (next == nullptr) std::this_thread::yield();
      while (next != nullptr) {
        auto& operation = static_cast<OperationState&>(*next);
        next = next->next;
        worker.take(operation);
        for (std::size_t item = 0; item < operation.items.size(); ++item)
          in_flight.emplace_back(&operation, item);
        ++taken;
      }
      // Some operations stay in flight while more are called, until no more are called.
      const std::size_t keep = random.below(100);
      while (in_flight.size() > keep || (taken == kCalls && !in_flight.empty())) {
        std::swap(in_flight[random.below(in_flight.size())], in_flight.back());
        const auto [operation, item] = in_flight.back();
        in_flight.pop_back();
        worker.answer(*operation, item);
      }
    }
  });

  lapse::RandomEngine random(9);
  std::deque<OperationState*> open;
  std::uint64_t lost = 0;
  std::uint64_t kept = 0;
  const auto is_open = [&](Key key) {
    for (const OperationState* operation : open) {
      for (const OperationState::Item& item : operation->items)
        if (item.key == key && item.state() != OperationState::ItemState::answered) return true;
    }
    return false;
  };
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    while (open.size() > 20) {
      if (open.front()->done()) {
        worker.release(*open.front());
        open.pop_front();
      } else {
        std::this_thread::yield();
      }
    }
    std::vector<Key> keys(i % 3 == 0 ? 1 + random.below(20) : 1);
    for (Key& key : keys) key = Key(random.below(i % 2000 < 1000 ? 50 : 5000));
    OperationState& operation = worker.call(TableId(0), keys);
    open.push_back(&operation);
    for (const Key key : keys)
      if (!worker.contains(key)) ++lost;
    queue.push(operation);
    const Key probe(random.below(50));
    const bool before = is_open(probe);
    if (worker.contains(probe) ? !before : is_open(probe)) ++kept;
    if (i % 512 == 0) {
      // Sometimes everything is answered: a total of zero is exact.
      while (worker.total() != 0) std::this_thread::yield();
      if (worker.contains(keys[0])) ++kept;
    }
  }
  engine.join();
  CHECK(lost == 0);
  CHECK(kept == 0);
  CHECK(worker.total() == 0);
}
