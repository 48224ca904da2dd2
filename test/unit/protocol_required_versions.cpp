#include "lapse/protocol/worker/required_versions.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/random.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr TableId kVersionsTable{3};

struct Requirements {
  UnansweredCount count;
  RequiredVersions versions{count};

  void raise(std::uint64_t key, std::uint64_t version, TableId table = kVersionsTable) {
    progress_role.assert_held();  // the test also acts as the engine
    versions.raise(table, Key(key), Version(version));
  }
  // 0: no version is required
  std::uint64_t find(std::uint64_t key, TableId table = kVersionsTable) const {
    return versions.find(table, Key(key)).value_or(Version(0)).value();
  }
};

}  // namespace

TEST_CASE("A count is clear when nothing is unanswered, required or closed, also when its counters wrap") {
  constexpr std::uint32_t kMax = (std::uint32_t{1} << 29) - 1;
  for (const bool closed : {false, true}) {
    UnansweredCount count;
    if (closed) count.close();
    // The counters pass 2^32 several times, at values that differ from turn to turn.
    for (std::uint32_t turn = 0; turn < 50; ++turn) {
      for (const std::uint32_t total : {std::uint32_t{0}, std::uint32_t{1}, kMax - turn, kMax}) {
        count.add(total);
        for (const bool required : {false, true}) {
          INFO(turn << ", " << total << ", " << required << ", " << closed);
          if (required) count.require_some();
          REQUIRE(count.total() == total);
          REQUIRE(count.requires_some() == required);
          REQUIRE(count.is_clear() == (total == 0 && !required && !closed));
        }
        count.finish(total);
        REQUIRE(count.total() == 0);
        REQUIRE(count.requires_some());
        REQUIRE_FALSE(count.is_clear());
        count.require_none();
        REQUIRE(count.is_clear() == !closed);
      }
    }
  }
}

TEST_CASE("A count can be closed while versions are required") {
  UnansweredCount count;
  count.add(7);
  count.require_some();
  count.close();
  CHECK(count.total() == 7);
  CHECK(count.requires_some());
  count.finish(7);
  CHECK(count.total() == 0);
  count.require_none();
  CHECK_FALSE(count.requires_some());
  CHECK_FALSE(count.is_clear());
}

TEST_CASE("A required version is the highest raised, and ends when the key is found in it or absent") {
  Requirements required;
  CHECK(required.versions.empty());
  CHECK(required.count.is_clear());
  required.raise(1, 5);
  CHECK_FALSE(required.versions.empty());
  CHECK_FALSE(required.count.is_clear());
  CHECK(required.count.total() == 0);
  CHECK(required.find(1) == 5);
  CHECK(required.find(2) == 0);
  CHECK(required.find(1, TableId(4)) == 0);
  required.raise(1, 9);
  required.raise(1, 7);
  CHECK(required.find(1) == 9);
  CHECK(required.versions.size() == 1);
  required.raise(2, 1);
  required.raise(1, 2, TableId(4));
  CHECK(required.versions.size() == 3);

  required.versions.found(kVersionsTable, Key(1), Version(8));
  CHECK(required.find(1) == 9);
  required.versions.found(kVersionsTable, Key(1), Version(9));
  CHECK(required.find(1) == 0);
  CHECK(required.find(1, TableId(4)) == 2);
  required.versions.found(kVersionsTable, Key(1), Version(9));
  required.versions.found_absent(kVersionsTable, Key(2));
  required.versions.found_absent(kVersionsTable, Key(2));
  CHECK_FALSE(required.count.is_clear());
  required.versions.found(TableId(4), Key(1), Version(3));
  CHECK(required.versions.empty());
  CHECK(required.count.is_clear());

  for (std::uint64_t key = 0; key < 100; ++key) required.raise(key, key + 1);
  required.versions.clear();
  required.versions.clear();
  CHECK(required.count.is_clear());
  CHECK(required.find(50) == 0);
  required.raise(50, 2);
  CHECK(required.find(50) == 2);
}

TEST_CASE(
    "Sweeps of a few keys reach every key, and the set empties though the worker does not return to any") {
  Requirements required;
  constexpr std::uint64_t kKeys = 1000;
  for (std::uint64_t key = 0; key < kKeys; ++key) required.raise(key, 10 + key);
  std::vector<int> asked(kKeys, 0);
  int calls = 0;
  // Every third key is not over yet.
  const auto is_over = [&](TableId table, Key key, Version version) {
    REQUIRE(table == kVersionsTable);
    REQUIRE(version.value() == 10 + key.value());
    ++asked[key.index()];
    ++calls;
    return key.value() % 3 != 0;
  };
  for (std::uint64_t sweep = 0; sweep < kKeys / 2; ++sweep) {
    const int before = calls;
    required.versions.sweep(2, is_over);
    REQUIRE(calls - before == 2);
  }
  CHECK(std::ranges::all_of(asked, [](int times) { return times == 1; }));
  CHECK(required.versions.size() == (kKeys + 2) / 3);
  // A second round visits the remaining keys once each.
  for (std::size_t left = required.versions.size(); left > 0; --left) required.versions.sweep(1, is_over);
  for (std::uint64_t key = 0; key < kKeys; ++key) REQUIRE(asked[key] == (key % 3 == 0 ? 2 : 1));
  required.versions.sweep(kKeys, [](TableId, Key, Version) { return true; });
  CHECK(required.count.is_clear());
  required.versions.sweep(1,
                          [](TableId, Key, Version) -> bool { throw std::logic_error("nothing is left"); });
}

TEST_CASE("What a sweep has found does not end a requirement that is raised meanwhile") {
  Requirements required;
  for (const std::uint64_t version : {5, 6}) {
    required.raise(1, 5);
    // The key was absent when the sweep asked, and has a replica when the answer arrives, possibly of the
    // same version.
    required.versions.sweep(1, [&](TableId, Key, Version) {
      required.raise(1, version);
      return true;
    });
    CHECK(required.find(1) == version);
    CHECK_FALSE(required.count.is_clear());
    required.versions.sweep(1, [](TableId, Key, Version) { return true; });
    CHECK(required.count.is_clear());
  }
  // Meanwhile the replica was removed and made again.
  required.raise(2, 4);
  required.versions.sweep(1, [&](TableId, Key, Version) {
    required.versions.found_absent(kVersionsTable, Key(2));
    required.raise(2, 4);
    return true;
  });
  CHECK(required.find(2) == 4);
}

TEST_CASE("Required versions are those of a map, whatever the order of calls") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomEngine random(seed);
    Requirements required;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> expected;
    for (int step = 0; step < 500; ++step) {
      const TableId table(static_cast<std::uint32_t>(random.below(2)));
      const std::uint64_t key = random.below(seed % 2 == 0 ? 3 : 100);
      const std::uint64_t version = 1 + random.below(20);
      const auto at = std::pair(table.value(), key);
      const auto entry = expected.find(at);
      switch (random.below(6)) {
        case 0:
        case 1:
        case 2:
          required.raise(key, version, table);
          expected[at] = std::max(expected[at], version);
          break;
        case 3:
          required.versions.found(table, Key(key), Version(version));
          if (entry != expected.end() && entry->second <= version) expected.erase(entry);
          break;
        case 4:
          required.versions.found_absent(table, Key(key));
          expected.erase(at);
          break;
        default:
          required.versions.sweep(random.below(4), [&](TableId in, Key swept, Version asked) {
            const auto one = expected.find(std::pair(in.value(), swept.value()));
            REQUIRE(one != expected.end());
            REQUIRE(one->second == asked.value());
            if (asked.value() > version) return false;
            expected.erase(one);
            return true;
          });
          break;
      }
      REQUIRE(required.versions.size() == expected.size());
      REQUIRE(required.versions.empty() == expected.empty());
      REQUIRE(required.count.is_clear() == expected.empty());
      for (const auto& [id, of_key] : expected)
        REQUIRE(required.find(id.second, TableId(id.first)) == of_key);
    }
  }
}

TEST_CASE("A worker finds what was required by an answer, while the engine raises versions") {
  constexpr std::uint64_t kAnswers = 20'000;
  WorkerEndpoint worker(0);
  UnansweredCount& count = worker.unanswered().count();
  RequiredVersions& versions = worker.required_versions();
  std::atomic<std::uint64_t> asked{0};
  std::thread engine([&] {
    progress_role.acquire();
    for (std::uint64_t answer = 1; answer <= kAnswers; ++answer) {
      while (asked.load(std::memory_order_acquire) < answer) std::this_thread::yield();
      if (answer % 4 != 0) versions.raise(kVersionsTable, Key(answer % 50), Version(answer));
      worker.unanswered().finish_total(1);
    }
    progress_role.release();
  });
  std::uint64_t lost = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t answer = 1; answer <= kAnswers; ++answer) {
    count.add();
    asked.store(answer, std::memory_order_release);
    if (answer % 3 == 0)
      versions.sweep(2, [&](TableId, Key key, Version version) {
        if (version.value() > answer || version.value() % 50 != key.value()) ++wrong;
        return version.value() + 20 < answer;
      });
    while (count.total() != 0) std::this_thread::yield();
    const Key key(answer % 50);
    const bool required = answer % 4 != 0;
    if (required && (versions.empty() || versions.find(kVersionsTable, key) != Version(answer))) ++lost;
    if (answer % 7 == 0) versions.found_absent(kVersionsTable, key);
    if (answer % 1000 == 0) versions.clear();
    if (versions.empty() != count.is_clear()) ++wrong;
  }
  engine.join();
  CHECK(lost == 0);
  CHECK(wrong == 0);
  versions.clear();
  CHECK(count.is_clear());
}
