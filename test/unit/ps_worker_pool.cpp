#include "lapse/ps/phase/worker_pool.hpp"

#include <set>
#include <vector>

#include "test/support/catch.hpp"

using lapse::WorkerPool;

TEST_CASE("Every job of a run is done once, on threads that are used again") {
  WorkerPool pool;
  std::vector<std::thread::id> first(4);
  std::vector<int> calls(4);
  for (int run = 1; run <= 200; ++run) {
    std::vector<std::thread::id> threads(4);
    const std::function<void(std::size_t)> job = [&](std::size_t index) {
      ++calls[index];
      threads[index] = std::this_thread::get_id();
    };
    pool.run(4, job);
    pool.wait();
    CHECK(calls == std::vector<int>(4, run));
    CHECK(std::set<std::thread::id>(threads.begin(), threads.end()).size() == 4);
    if (run == 1) first = threads;
    CHECK(threads == first);
  }
}

TEST_CASE("Runs may have different sizes, none included") {
  WorkerPool pool;
  std::atomic<int> calls{0};
  const std::function<void(std::size_t)> job = [&](std::size_t) { calls.fetch_add(1); };
  int expected = 0;
  for (const std::size_t count : {2U, 0U, 5U, 1U, 0U, 3U, 6U}) {
    pool.run(count, job);
    pool.wait();
    expected += static_cast<int>(count);
    CHECK(calls == expected);
  }
}

TEST_CASE("Jobs of one run run at the same time") {
  WorkerPool pool;
  std::atomic<int> here{0};
  const std::function<void(std::size_t)> job = [&](std::size_t) {
    here.fetch_add(1);
    while (here.load() < 3) std::this_thread::yield();
  };
  pool.run(3, job);
  pool.wait();
  CHECK(here == 3);
}

TEST_CASE("A pool that never ran anything ends") {
  const WorkerPool pool;
  pool.wait();
  SUCCEED();
}
