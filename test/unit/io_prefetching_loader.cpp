// Batches that a thread makes in advance.
#include "lapse/io/loading/prefetching_loader.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using namespace lapse::io;

namespace {

struct NumberBatch {
  std::vector<std::uint64_t> numbers;
};

// Makes the batches {n, n, n} for n from 0 to count - 1.
PrefetchingLoader<NumberBatch>::Make numbers_to(std::uint64_t count) {
  return [count](NumberBatch& batch, std::uint64_t number) {
    if (number == count) return false;
    batch.numbers.assign(3, number);
    return true;
  };
}

// Also counts them.
PrefetchingLoader<NumberBatch>::Make counted(std::uint64_t count, std::atomic<std::uint64_t>& made) {
  return [make = numbers_to(count), &made](NumberBatch& batch, std::uint64_t number) {
    if (!make(batch, number)) return false;
    ++made;
    return true;
  };
}

void wait_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the condition never held");
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("a loader gives every batch once, in order, and then the end") {
  const auto [ahead, first, count] = GENERATE(table<std::size_t, std::size_t, std::uint64_t>({{1, 1, 0},
                                                                                              {1, 1, 1},
                                                                                              {1, 1, 500},
                                                                                              {2, 2, 500},
                                                                                              {7, 5, 3},
                                                                                              {7, 7, 500},
                                                                                              {100, 50, 2000},
                                                                                              {64, 64, 64}}));
  CAPTURE(ahead, first, count);
  std::vector<std::uint64_t> numbers;
  {
    PrefetchingLoader<NumberBatch> loader(
        {.ahead = ahead, .ahead_of_first = first},
        [&, make = numbers_to(count)](NumberBatch& batch, std::uint64_t number) {
          numbers.push_back(number);
          return make(batch, number);
        });
    for (std::uint64_t n = 0; n < count; ++n) {
      const NumberBatch* const batch = loader.next();
      REQUIRE(batch != nullptr);
      REQUIRE(batch->numbers == std::vector<std::uint64_t>(3, n));
    }
    CHECK(loader.next() == nullptr);
    CHECK(loader.next() == nullptr);
  }
  REQUIRE(numbers.size() == count + 1);  // the last call reached the end
  for (std::uint64_t n = 0; n <= count; ++n) CHECK(numbers[n] == n);
}

TEST_CASE("batches are made on a thread that takes no signals") {
  std::atomic<bool> held{false};
  PrefetchingLoader<NumberBatch> loader({}, [&](NumberBatch& /*batch*/, std::uint64_t /*number*/) {
    sigset_t signals;
    pthread_sigmask(SIG_BLOCK, nullptr, &signals);
    held = sigismember(&signals, SIGTERM) == 1;
    return false;
  });
  CHECK(loader.next() == nullptr);
  CHECK(held);
}

TEST_CASE("a loader is at most so many batches ahead, and as many where it can") {
  constexpr std::size_t kAhead = 10;
  std::atomic<std::uint64_t> made{0};
  PrefetchingLoader<NumberBatch> loader({.ahead = kAhead}, counted(1000, made));
  for (std::uint64_t n = 0; n < 100; ++n) {
    REQUIRE(loader.next()->numbers[0] == n);
    REQUIRE(made <= n + 1 + kAhead);
  }
  // It sleeps until half of the ring is free.
  wait_until([&] { return made >= 100 + kAhead / 2; });
}

TEST_CASE("the first batch is given when as many as asked for have been made") {
  std::atomic<std::uint64_t> made{0};
  {
    PrefetchingLoader<NumberBatch> loader({.ahead = 20, .ahead_of_first = 15}, counted(100, made));
    CHECK(loader.next() != nullptr);
    CHECK(made >= 15);
  }
  made = 0;
  PrefetchingLoader<NumberBatch> loader({.ahead = 20, .ahead_of_first = 15}, counted(4, made));
  CHECK(loader.next() != nullptr);
  CHECK(made == 4);
}

TEST_CASE("batches keep the memory of their arrays") {
  PrefetchingLoader<NumberBatch> loader({.ahead = 3}, [](NumberBatch& batch, std::uint64_t number) {
    if (number >= 4 && batch.numbers.capacity() < 1000) throw std::runtime_error("the memory is gone");
    batch.numbers.resize(number < 4 ? 1000 : 10);
    return number < 50;
  });
  while (loader.next() != nullptr) {
  }
}

TEST_CASE("what the function throws reaches the consumer, after the batches before") {
  PrefetchingLoader<NumberBatch> loader({.ahead = 3}, [](NumberBatch& batch, std::uint64_t number) {
    if (number == 5) throw lapse::UsageError("batch five");
    batch.numbers.assign(1, number);
    return true;
  });
  for (std::uint64_t n = 0; n < 5; ++n) REQUIRE(loader.next()->numbers[0] == n);
  CHECK_THROWS_WITH(loader.next(), "batch five");
  CHECK_THROWS_AS(loader.next(), lapse::UsageError);
}

TEST_CASE("a consumer may leave at any time") {
  const std::uint64_t used = GENERATE(0, 1, 5, 40);
  PrefetchingLoader<NumberBatch> loader({.ahead = 8, .ahead_of_first = GENERATE(1, 8)},
                                        numbers_to(1'000'000'000));
  for (std::uint64_t n = 0; n < used; ++n) REQUIRE(loader.next() != nullptr);
}

TEST_CASE("a consumer that leaves by an exception does not wait for the input") {
  const auto leave = [] {
    PrefetchingLoader<NumberBatch> loader({.ahead = 2}, numbers_to(1'000'000'000));
    loader.next();
    throw std::runtime_error("the worker failed");
  };
  CHECK_THROWS_WITH(leave(), "the worker failed");
}

TEST_CASE("batches that are held stay as they are") {
  const std::size_t held = GENERATE(1, 2, 5);
  PrefetchingLoader<NumberBatch> loader({.ahead = GENERATE(1, 4, 30), .held = held}, numbers_to(300));
  std::vector<const NumberBatch*> given;
  for (std::uint64_t n = 0; n < 300; ++n) {
    given.push_back(loader.next());
    for (std::uint64_t older = n - std::min<std::uint64_t>(n, held - 1); older <= n; ++older)
      REQUIRE(given[older]->numbers == std::vector<std::uint64_t>(3, older));
  }
  CHECK(loader.next() == nullptr);
}

TEST_CASE("a loader makes one batch ahead at least, holds one at least, and waits for what it can make") {
  using Loader = PrefetchingLoader<NumberBatch>;
  CHECK_THROWS_AS(Loader({.ahead = 0}, numbers_to(1)), lapse::UsageError);
  CHECK_THROWS_AS(Loader({.ahead = 1, .held = 0}, numbers_to(1)), lapse::UsageError);
  CHECK_THROWS_AS(Loader({.ahead = 1, .ahead_of_first = 2}, numbers_to(1)), lapse::UsageError);
  CHECK_THROWS_WITH(Loader({.ahead = 1, .ahead_of_first = 0}, numbers_to(1)),
                    Catch::Matchers::Contains("0 ready before the first: expected"));
}

TEST_CASE("a ring wakes its maker when half of it is free") {
  BatchRing ring(8, 1, 1);
  std::atomic<std::uint64_t> begun{0};
  std::thread maker([&] {
    while (ring.begin()) {
      ++begun;
      ring.end();
    }
  });
  REQUIRE(ring.next() == 0U);
  // The slot of batch 0 is not free yet, so the maker sleeps.
  wait_until([&] { return begun == 8; });
  for (std::uint64_t n = 1; n < 4; ++n) REQUIRE(ring.next() == n);
  CHECK(begun == 8);  // three slots are free
  REQUIRE(ring.next() == 4U);
  wait_until([&] { return begun == 12; });
  ring.stop();
  maker.join();
}
