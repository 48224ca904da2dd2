// Calls on many keys, some of whose latches another thread holds.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;

namespace {

using std::chrono::steady_clock;
constexpr std::uint64_t kKeys = 64;
constexpr auto kPatience = std::chrono::seconds(5);

// Waits until condition() is true. Returns false on timeout.
template <class Condition>
bool wait_until(Condition&& condition) {
  for (const auto end = steady_clock::now() + kPatience; !condition(); std::this_thread::yield())
    if (steady_clock::now() > end) return false;
  return true;
}

}  // namespace

TEST_CASE("Other ranks are answered while a call waits for the latch of a local key") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(
      {.name = "latched", .keys = kKeys, .length = 1, .home = HomeMapKind::range});
  // Half of the keys are on rank 0. The first key is latched; the last rank pushes to the second key.
  constexpr Key kLatched(0);
  constexpr Key kPushed(1);
  constexpr int kRounds = 20;
  constexpr std::int64_t kPushes = 100;
  enum class Stage : std::uint8_t { open, latched, calling, over };
  std::atomic<Stage> stage{Stage::open};
  const bool is_first = server.rank() == Rank(0);
  server.run_workers(is_first ? 3 : 1, [&](Worker& worker) {
    const auto pushed_so_far = [&] {
      std::int64_t value = 0;
      expect(worker.pull_if_local(table, kPushed, std::span(&value, 1)), "a local key");
      return value;
    };
    for (int round = 0; round < kRounds; ++round) {
      worker.barrier();
      if (!is_first) {
        if (server.rank().value() + 1 < server.ranks()) continue;
        // Until rank 0 has seen the number of pushes that it waits for.
        std::int64_t ended = 0;
        while (ended <= round) {
          worker.push(table, kPushed, std::vector<std::int64_t>{1}).wait();
          worker.pull(table, Key(2), std::span(&ended, 1)).wait();
        }
      } else if (worker.index() == 0) {
        bool in_time = false;
        worker.update_if_local(table, kLatched, [&](std::span<std::int64_t>) {
          stage = Stage::latched;
          in_time = wait_until([&] { return stage == Stage::over; });
        });
        expect(in_time, "pushes of another rank are executed while a call waits for a latch");
        stage = Stage::open;
      } else if (worker.index() == 1) {
        // The last key, which is remote, is listed first.
        const std::vector<Key> keys{Key(kKeys - 1), kLatched, Key(kKeys - 2), Key(3)};
        std::vector<std::int64_t> values(keys.size());
        expect(wait_until([&] { return stage == Stage::latched; }), "the latch is taken");
        stage = Stage::calling;
        worker.pull(table, keys, values).wait();
      } else {
        expect(wait_until([&] { return stage == Stage::calling; }), "the call is made");
        const std::int64_t before = pushed_so_far();
        const bool in_time =
            server.ranks() == 1 || wait_until([&] { return pushed_so_far() >= before + kPushes; });
        worker.push(table, Key(2), std::vector<std::int64_t>{1});
        if (in_time) stage = Stage::over;
      }
    }
  });
  server.close();
}

// Checks values, in whatever interleavings happen. A key's order could only be lost with a late packet to a
// rank that the key has left: test/unit/ps_direct_call.cpp makes that case.
TEST_CASE("A call that meets latches keeps the order of the keys it repeats, wherever they move meanwhile") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(
      {.name = "latched", .keys = kKeys, .length = 1, .home = HomeMapKind::range});
  constexpr int kRounds = 300;
  std::atomic<bool> over{false};
  const bool is_first = server.rank() == Rank(0);
  server.run_workers(is_first ? 2 : 1, [&](Worker& worker) {
    const std::vector<Key> latched{Key(0), Key(1)};
    const std::vector<Key> moving{Key(kKeys - 1), Key(kKeys - 2), Key(kKeys - 3)};
    if (is_first && worker.index() == 0) {
      // Holds latches most of the time, and moves keys away from the last rank.
      for (int i = 0; !over; ++i) {
        worker.update_if_local(table, latched[static_cast<std::size_t>(i % 2)], [](std::span<std::int64_t>) {
          const auto end = steady_clock::now() + std::chrono::microseconds(20);
          while (steady_clock::now() < end) std::this_thread::yield();
        });
        if (i % 3 == 0) worker.localize(table, moving);
      }
    } else if (is_first) {
      std::vector<Key> keys;
      for (const std::size_t move : {0, 1, 0, 2, 1, 0}) {
        keys.push_back(moving[move]);
        keys.push_back(latched[move % 2]);
      }
      std::vector<std::int64_t> values(keys.size());
      std::vector<std::int64_t> seen(keys.size());
      std::int64_t value = 0;
      for (int round = 0; round < kRounds; ++round) {
        for (std::int64_t& written : values) written = ++value;
        worker.set(table, keys, values);
        worker.pull(table, keys, seen).wait();
        for (std::size_t i = 0; i < keys.size(); ++i) {
          std::size_t last = i;
          for (std::size_t j = i; j < keys.size(); ++j)
            if (keys[j] == keys[i]) last = j;
          expect(seen[i] == values[last], "the value that was set last");
        }
      }
      over = true;
    } else if (server.rank().value() + 1 == server.ranks()) {
      for (int i = 0; i < kRounds; ++i) worker.localize(table, moving).wait();
    }
  });
  server.close();
}
