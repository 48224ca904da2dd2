#include "lapse/protocol/unanswered_table.hpp"

#include <deque>
#include <map>
#include <thread>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/transport/submission_queue.hpp"
#include "test/support/catch.hpp"

using lapse::Key;
using lapse::TableId;
using lapse::UnansweredCount;
using lapse::UnansweredKey;
using lapse::UnansweredTable;

namespace {

void finish(UnansweredTable& table, UnansweredKey& entry) {
  UnansweredTable::finish(entry);
  table.finish_total(1);
}

}  // namespace

TEST_CASE("A key is contained from its first operation until the answer to its last") {
  UnansweredTable table;
  CHECK(table.total() == 0);
  CHECK_FALSE(table.contains(TableId(0), Key(7)));
  UnansweredKey& entry = table.add(TableId(0), Key(7));
  CHECK(&table.add(TableId(0), Key(7)) == &entry);
  CHECK(table.total() == 2);
  CHECK(table.contains(TableId(0), Key(7)));
  CHECK_FALSE(table.contains(TableId(1), Key(7)));
  CHECK_FALSE(table.contains(TableId(0), Key(8)));
  finish(table, entry);
  CHECK(table.contains(TableId(0), Key(7)));
  finish(table, entry);
  CHECK(table.total() == 0);
  CHECK_FALSE(table.contains(TableId(0), Key(7)));
}

TEST_CASE("The total may be lowered later, for many keys at once") {
  UnansweredTable table;
  UnansweredKey& first = table.add(TableId(0), Key(1));
  UnansweredKey& second = table.add(TableId(0), Key(2));
  UnansweredTable::finish(first);
  UnansweredTable::finish(second);
  CHECK(table.total() == 2);
  CHECK_FALSE(table.contains(TableId(0), Key(1)));
  table.finish_total(2);
  CHECK(table.total() == 0);
}

TEST_CASE("A closed count is not clear, and still right, also when it wraps") {
  UnansweredCount count;
  CHECK(count.is_clear());
  for (int i = 0; i < 3; ++i) count.add();
  count.finish(3);
  CHECK(count.is_clear());
  count.add();
  CHECK_FALSE(count.is_clear());
  count.close();
  CHECK(count.total() == 1);
  CHECK_FALSE(count.is_clear());
  count.finish(1);
  CHECK(count.total() == 0);
  CHECK_FALSE(count.is_clear());
  count.add();
  CHECK(count.total() == 1);
}

TEST_CASE("The same key of different tables, and keys that differ in their high bits, are different") {
  UnansweredTable table;
  std::vector<std::pair<TableId, Key>> all;
  for (std::uint32_t id = 0; id < 8; ++id) {
    for (std::uint32_t bit = 0; bit < 40; ++bit) all.emplace_back(TableId(id), Key(std::uint64_t{1} << bit));
  }
  for (const auto& [id, key] : all) {
    CHECK_FALSE(table.contains(id, key));
    table.add(id, key);
    CHECK(table.contains(id, key));
  }
  CHECK(table.total() == all.size());
}

TEST_CASE("Entries keep their addresses while the table grows, and room is used again") {
  UnansweredTable table;
  std::vector<UnansweredKey*> entries;
  for (int round = 0; round < 3; ++round) {
    entries.clear();
    for (std::uint64_t key = 0; key < 10'000; ++key) entries.push_back(&table.add(TableId(0), Key(key)));
    for (std::uint64_t key = 0; key < 10'000; ++key) {
      REQUIRE(entries[key]->key == Key(key));
      REQUIRE(entries[key]->count() == 1);
      REQUIRE(&table.add(TableId(0), Key(key)) == entries[key]);
      finish(table, *entries[key]);
    }
    for (UnansweredKey* entry : entries) finish(table, *entry);
    CHECK(table.total() == 0);
    for (std::uint64_t key = 0; key < 10'000; key += 97) REQUIRE_FALSE(table.contains(TableId(0), Key(key)));
  }
}

TEST_CASE("The table is exact in any order of operations and answers, in order or not") {
  UnansweredTable table;
  lapse::RandomEngine random(3);
  struct Open {
    Key key;
    UnansweredKey* entry;
  };
  std::deque<Open> open;
  std::map<std::uint64_t, int> expected;
  for (int step = 0; step < 200'000; ++step) {
    // Long phases of growing and of shrinking, over many and over few keys.
    const bool grow = (step / 5000) % 2 == 0 ? random.below(10) < 7 : random.below(10) < 3;
    if (grow || open.empty()) {
      const Key key(random.below(step % 40'000 < 20'000 ? 100'000 : 20));
      open.push_back({key, &table.add(TableId(1), key)});
      ++expected[key.value()];
    } else {
      const std::size_t which = random.below(open.size());
      std::swap(open[which], open.front());
      const Open done = open.front();
      open.pop_front();
      REQUIRE(done.entry->key == done.key);
      finish(table, *done.entry);
      if (--expected[done.key.value()] == 0) expected.erase(done.key.value());
    }
    REQUIRE(table.total() == open.size());
    const Key probe(random.below(100'000));
    REQUIRE(table.contains(TableId(1), probe) == (expected.count(probe.value()) == 1));
    if (!open.empty()) REQUIRE(table.contains(TableId(1), open.front().key));
  }
}

namespace {

struct Question : lapse::Submission {
  UnansweredKey* entry = nullptr;
};

}  // namespace

TEST_CASE(
    "A worker and an engine thread agree: what the worker submitted is contained until it is answered") {
  constexpr std::uint64_t kQuestions = 100'000;
  UnansweredTable table;
  lapse::SubmissionQueue queue;
  std::vector<Question> questions(kQuestions);
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint64_t> wrong_pins{0};

  std::thread engine([&] {
    for (std::uint64_t done = 0; done < kQuestions;) {
      lapse::Submission* next = queue.take_all();
      if (next == nullptr) std::this_thread::yield();
      while (next != nullptr) {
        auto& question = static_cast<Question&>(*next);
        next = next->next;
        // The pin is the engine's: it finds it as it left it.
        if (question.entry->pin.unanswered != 0) wrong_pins.fetch_add(1);
        question.entry->pin.unanswered = 1;
        question.entry->pin.unanswered = 0;
        UnansweredTable::finish(*question.entry);
        table.finish_total(1);
        answered.store(++done, std::memory_order_release);
      }
    }
  });

  lapse::RandomEngine random(9);
  std::uint64_t lost = 0;
  for (std::uint64_t i = 0; i < kQuestions; ++i) {
    const Key key(random.below(i % 2000 < 1000 ? 50 : 5000));
    questions[i].entry = &table.add(TableId(0), key);
    if (!table.contains(TableId(0), key)) ++lost;
    queue.push(questions[i]);
    if (i % 512 == 0) {
      // Now and then everything is answered: total 0 is exact.
      while (table.total() != 0) std::this_thread::yield();
      if (answered.load(std::memory_order_acquire) + 1 < i) ++lost;
      if (table.contains(TableId(0), key)) ++lost;
    }
  }
  engine.join();
  CHECK(lost == 0);
  CHECK(wrong_pins == 0);
  CHECK(table.total() == 0);
}
