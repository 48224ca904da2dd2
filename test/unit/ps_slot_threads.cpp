#include "lapse/ps/phase/slot_threads.hpp"

#include <set>
#include <vector>

#include "test/support/catch.hpp"

using lapse::SlotThreads;

namespace {

void start_all(SlotThreads& threads, std::size_t slots, const SlotThreads::Job& job) {
  threads.prepare(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) threads.start(slot, job);
}

}  // namespace

TEST_CASE("A job is done once on the thread of each slot, which is used again") {
  SlotThreads threads;
  std::vector<std::thread::id> first(4);
  std::vector<int> calls(4);
  for (int run = 1; run <= 200; ++run) {
    std::vector<std::thread::id> ids(4);
    const SlotThreads::Job job = [&](std::size_t slot) {
      ++calls[slot];
      ids[slot] = std::this_thread::get_id();
    };
    start_all(threads, 4, job);
    threads.wait();
    CHECK(calls == std::vector<int>(4, run));
    CHECK(std::set<std::thread::id>(ids.begin(), ids.end()).size() == 4);
    if (run == 1) first = ids;
    CHECK(ids == first);
  }
}

TEST_CASE("Different numbers of slots may have jobs, none included") {
  SlotThreads threads;
  std::atomic<int> calls{0};
  const SlotThreads::Job job = [&](std::size_t) { calls.fetch_add(1); };
  int expected = 0;
  for (const std::size_t slots : {2U, 0U, 5U, 1U, 0U, 3U, 6U}) {
    start_all(threads, slots, job);
    threads.wait();
    expected += static_cast<int>(slots);
    CHECK(calls == expected);
  }
}

TEST_CASE("Jobs of several slots run at the same time") {
  SlotThreads threads;
  std::atomic<int> here{0};
  const SlotThreads::Job job = [&](std::size_t) {
    here.fetch_add(1);
    while (here.load() < 3) std::this_thread::yield();
  };
  start_all(threads, 3, job);
  threads.wait();
  CHECK(here == 3);
}

TEST_CASE("A slot takes jobs one after the other while another slot still has its first") {
  SlotThreads threads;
  threads.prepare(2);
  std::atomic<bool> ends{false};
  constexpr int kJobs = 500;
  std::atomic<int> calls{0};
  std::atomic<int> started{0};
  const SlotThreads::Job lasting = [&](std::size_t) {
    while (!ends.load()) std::this_thread::yield();
  };
  // A job ends after the next one has been given to its slot.
  const SlotThreads::Job counting = [&](std::size_t) {
    const int call = calls.fetch_add(1) + 1;
    while (call < kJobs && started.load() <= call) std::this_thread::yield();
  };
  threads.start(0, lasting);
  for (int run = 1; run <= kJobs; ++run) {
    threads.start(1, counting);
    started.store(run);
    while (calls.load() < run) std::this_thread::yield();
  }
  ends = true;
  threads.wait();
  CHECK(calls == kJobs);
}

TEST_CASE("Threads that never had a job end") {
  SlotThreads threads;
  threads.prepare(2);
  threads.wait();
  SUCCEED();
}
