// Shuffling within a buffer.
#include "lapse/io/loading/shuffle_buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "test/support/catch.hpp"

using lapse::RandomEngine;
using lapse::io::ShuffleBuffer;

namespace {

// Counts from 0 to count - 1.
struct Counter {
  int count;
  int next = 0;
  bool operator()(int& element) {
    if (next == count) return false;
    element = next++;
    return true;
  }
};

std::vector<int> shuffled(ShuffleBuffer<int>& buffer, int count) {
  std::vector<int> order;
  Counter counter{count};
  for (int element = 0; buffer.next(element, counter);) order.push_back(element);
  return order;
}

std::vector<int> shuffled(std::size_t elements, int count, std::uint64_t seed) {
  ShuffleBuffer<int> buffer(elements, RandomEngine(seed));
  return shuffled(buffer, count);
}

}  // namespace

TEST_CASE("a shuffle buffer gives every element once") {
  const std::size_t elements = GENERATE(0, 1, 2, 10, 1000);
  const int count = GENERATE(0, 1, 9, 10, 11, 500);
  std::vector<int> order = shuffled(elements, count, 1);
  if (elements > 2 && count > 8) CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  if (elements < 2) CHECK(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  REQUIRE(order.size() == static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("the order of a shuffle buffer depends on the seed alone") {
  CHECK(shuffled(50, 1000, 3) == shuffled(50, 1000, 3));
  CHECK(shuffled(50, 1000, 3) != shuffled(50, 1000, 4));
  ShuffleBuffer<int> buffer(50, RandomEngine(7));
  shuffled(buffer, 1000);
  buffer.restart(RandomEngine(3));
  CHECK(shuffled(buffer, 1000) == shuffled(50, 1000, 3));
}

TEST_CASE("no element comes earlier than the buffer allows") {
  constexpr int kElements = 20;
  const std::vector<int> order = shuffled(kElements, 5000, 5);
  int latest = 0;
  for (int place = 0; place < 5000; ++place) {
    const int element = order[static_cast<std::size_t>(place)];
    REQUIRE(element < place + kElements);
    latest = std::max(latest, place - element);
  }
  CHECK(latest > kElements);  // an element may stay for long
}

TEST_CASE("within a buffer that holds all elements, each is first equally often") {
  constexpr int kElements = 5;
  std::vector<int> first(kElements);
  std::vector<int> last(kElements);
  constexpr int kRuns = 20000;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const std::vector<int> order = shuffled(kElements, kElements, seed);
    ++first[static_cast<std::size_t>(order.front())];
    ++last[static_cast<std::size_t>(order.back())];
  }
  for (const int count : first) CHECK(count == Approx(kRuns / kElements).epsilon(0.05));
  for (const int count : last) CHECK(count == Approx(kRuns / kElements).epsilon(0.05));
}

TEST_CASE("a buffer takes the memory of what it holds, however many elements it may hold") {
  std::vector<int> order = shuffled(std::size_t{1} << 60U, 1000, 1);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  REQUIRE(order.size() == 1000);
  CHECK(order.front() == 0);
  CHECK(order.back() == 999);
}

TEST_CASE("elements keep the memory of their arrays") {
  ShuffleBuffer<std::vector<int>> buffer(4, RandomEngine(1));
  std::vector<int> element;
  int given = 0;
  const auto read = [&](std::vector<int>& next) {
    if (given >= 10) CHECK(next.capacity() >= 100);
    next.resize(given++ < 10 ? 100 : 1);
    return given < 50;
  };
  while (buffer.next(element, read)) {
  }
}
