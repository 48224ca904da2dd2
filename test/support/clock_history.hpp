// What one worker does and checks in a test of clocked consistency.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/ps/worker.hpp"

namespace lapse::test {

// Runs one worker through clocks, and checks its reads of a table whose values have an element for each
// worker. In each clock every worker pushes 1 to its element of some keys: how many it has pushed before a
// clock is a function of the key and the clock. Keys may move, be wanted and not wanted any more meanwhile.
class ClockHistory {
 public:
  static constexpr std::uint64_t kKeys = 12;
  static constexpr std::int64_t kClocks = 60;

  ClockHistory(const Table<std::int64_t>& table, std::int64_t staleness, bool moves)
      : table_(table), staleness_(staleness), moves_(moves) {}

  // `announce(worker, key, start, end)`: signals an intent, if the worker can. `asynchronous`: does not wait
  // for pushes. Throws std::logic_error.
  template <class AnyWorker, class Announce>
  void run(AnyWorker& worker, bool asynchronous, Announce&& announce) const {
    std::mt19937_64 random(worker.index() + 7);
    std::vector<std::int64_t> own(kKeys);
    std::vector<std::int64_t> value(worker.count());
    std::vector<std::int64_t> unit(worker.count());
    unit[worker.index()] = 1;
    for (std::int64_t clock = 0; clock < kClocks; ++clock) {
      const std::int64_t start = worker.current_clock().value() + static_cast<std::int64_t>(random() % 4);
      const std::int64_t end = start + 1 + static_cast<std::int64_t>(random() % 6);
      announce(worker, Key(random() % kKeys), Clock(start), Clock(end));
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        if (!pushes(worker.index(), key, clock)) continue;
        Operation push = worker.push(table_, Key(key), unit);
        if (!asynchronous) push.wait();
        ++own[key];
      }
      for (int reads = 0; reads < 4; ++reads) {
        const std::uint64_t key = random() % kKeys;
        if (moves_ && random() % 4 == 0) worker.localize(table_, Key(key));
        const bool in_memory = random() % 3 == 0 && worker.pull_if_local(table_, Key(key), value);
        if (!in_memory) worker.pull(table_, Key(key), value).wait();
        check(value, worker.index(), key, clock, own[key]);
      }
      // Some workers are slower than others.
      if (worker.index() % 3 == 1 && random() % 4 == 0) spin();
      worker.advance_clock();
    }
  }
  template <class AnyWorker>
  void run(AnyWorker& worker, bool asynchronous) const {
    run(worker, asynchronous, [](AnyWorker&, Key, Clock, Clock) {});
  }

  // Of a worker to a key.
  static std::int64_t all_pushes(std::size_t worker, std::uint64_t key) {
    return pushes_before(worker, key, kClocks);
  }

 private:
  // Not every worker changes every key in every clock.
  static bool pushes(std::size_t worker, std::uint64_t key, std::int64_t clock) {
    return (key + static_cast<std::uint64_t>(clock) * (worker + 1)) % 3 != 0;
  }
  static std::int64_t pushes_before(std::size_t worker, std::uint64_t key, std::int64_t clock) {
    std::int64_t count = 0;
    for (std::int64_t at = 0; at < clock; ++at) count += pushes(worker, key, at) ? 1 : 0;
    return count;
  }
  // A read at a clock shows all pushes of others from before `clock - staleness`, and exactly the own ones.
  void check(std::span<const std::int64_t> value, std::size_t self, std::uint64_t key, std::int64_t clock,
             std::int64_t own) const {
    for (std::size_t other = 0; other < value.size(); ++other) {
      const std::int64_t seen = std::max<std::int64_t>(0, clock - staleness_);
      const std::int64_t least = other == self ? own : pushes_before(other, key, seen);
      if (value[other] >= least && (other != self || value[other] == own)) continue;
      throw std::logic_error("at clock " + std::to_string(clock) + " of worker " + std::to_string(self) +
                             ", key " + std::to_string(key) + " shows " + std::to_string(value[other]) +
                             " pushes of worker " + std::to_string(other) + ", expected " +
                             std::to_string(least) + (other == self ? "" : " or more"));
    }
  }
  static void spin() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
    while (std::chrono::steady_clock::now() < end) continue;
  }

  Table<std::int64_t> table_;
  std::int64_t staleness_;
  bool moves_;
};

}  // namespace lapse::test
