// The MPI lock as a lock. Tests over MPI test its relation to MPI.
#include <barrier>
#include <thread>
#include <vector>

#include "lapse/transport/mpi/library/lock.hpp"
#include "test/support/catch.hpp"

using lapse::MpiLock;

TEST_CASE("one thread at a time holds the MPI lock") {
  MpiLock lock;
  constexpr int kThreads = 6;
  constexpr long kRounds = 20'000;
  long count = 0;  // Not atomic: lost increments, and ThreadSanitizer, would reveal two holders.
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (long round = 0; round < kRounds; ++round) {
        lock.lock();
        const long seen = count;
        // Some holders keep it so long that other threads stop spinning and sleep.
        for (int i = 0; round % 1000 == 0 && i < 300; ++i) std::this_thread::yield();
        count = seen + 1;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(count == kThreads * kRounds);
}

TEST_CASE("try_lock takes the MPI lock only when it is free") {
  MpiLock lock;
  REQUIRE(lock.try_lock());
  bool taken = true;
  std::thread([&] { taken = lock.try_lock(); }).join();
  REQUIRE_FALSE(taken);
  lock.unlock();
  REQUIRE(lock.try_lock());
  lock.unlock();
}
